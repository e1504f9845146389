#include "query/ident.h"

void mrd__ident_json(mrd__buf *out, const mrd__store *store, mrd__ident ident)
{
    if (ident.kind == MRD__IDENT_NUMBER)
        mrd__buf_int(out, ident.number);
    else if (ident.kind == MRD__IDENT_TEXT)
        mrd__buf_json_string(out, mrd__store_str(store, ident.text));
    else
        mrd__buf_text(out, "null");
}

void mrd__ident_text(mrd__buf *out, const mrd__store *store, mrd__ident ident)
{
    if (ident.kind == MRD__IDENT_NUMBER)
        mrd__buf_int(out, ident.number);
    else if (ident.kind == MRD__IDENT_TEXT)
        mrd__buf_str(out, mrd__store_str(store, ident.text));
}
