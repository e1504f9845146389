// path: src/query/planted.c
// expect: tab: indent with 4 spaces
int mrd__planted;
	int mrd__planted_too; // planted
