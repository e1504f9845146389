// path: src/query/planted.c
// expect: line: longer than 100 columns
// This line stays below one hundred columns, counted in characters, not in bytes: äöüäöüäöüäöüäöü.
// This line does not stay below one hundred columns, whoever counts it and in whatever encoding. // planted
