/* Parameters become fields of the result store. */
#include "api/results.h"
#include "query/params.h"

void mrd__fields_reset(mrd__fields *list)
{
    for (size_t i = 0; i < list->values.count; i++)
        mrd__buf_reset(&list->values.data[i]);
    mrd__vec_reset(&list->values);
    mrd__vec_reset(&list->items);
}

mrd_status mrd__fields_of(const mrd_params *params, mrd__fields *out, mrd_error *error)
{
    for (size_t i = 0; params && i < params->items.count; i++) {
        const mrd__param *param = &params->items.data[i];
        mrd__buf value = {0};
        mrd__buf_reserve(&value, param->value.size + 1);
        if (!param->encoded)
            mrd__buf_str(&value, param->value);
        else if (!mrd__percent_decode(&value, param->value)) {
            mrd__buf_reset(&value);
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                             "%s has bad percent-encoding", param->name);
        }
        mrd__vec_push(&out->values, value);
        mrd__field field = {param->name, {value.data, value.size}};
        mrd__vec_push(&out->items, field);
    }
    return MRD_OK;
}
