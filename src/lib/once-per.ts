/** Returns `make` so that it runs once for each object, as long as somebody holds that object. */
export function oncePer<From extends object, To>(make: (from: From) => To): (from: From) => To {
  const made = new WeakMap<From, { value: To }>();
  return (from) => {
    const one = made.get(from) ?? { value: make(from) };
    made.set(from, one);
    return one.value;
  };
}
