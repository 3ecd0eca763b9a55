/** What was listed of a user. With a row among it that cannot be read nothing is known for sure. */
export function whole<L extends { readonly malformed: readonly Error[] }>(list: L): L {
  const [unreadable] = list.malformed;
  if (unreadable !== undefined) throw unreadable;
  return list;
}
