// check: eslint
// expect: no-explicit-any
export const planted = 1;
export const plantedToo: any = 2; // planted
