/**
 * Returns a function that makes a row of a list of values in the order of `names`. An object literal that names the
 * columns makes one several times faster than a loop over them.
 */
export function rowMaker(names: readonly string[]): (list: readonly unknown[]) => object {
  const members = names.map((name, i) => `${JSON.stringify(name)}: list[${i}]`);
  // The names are those of the program's own statements, in quotes: nothing from outside is run.
  // eslint-disable-next-line no-new-func
  return new Function("list", `return { ${members.join(", ")} };`) as (list: readonly unknown[]) => object;
}
