import { admitItem } from './admit-value.ts';
import type { RawItem } from './attribute-value.ts';
import { invalid } from './errors.ts';
import type { Key } from './key-schema.ts';
import { keyOf } from './key-schema.ts';
import { startKeySchemas, type Page } from './page.ts';
import type { Place } from './sorted-list.ts';

/** After which entry a page begins: an item that was there when the page before ended, and may be gone. */
export interface Start {
  readonly partition: string;
  readonly place: Place;
}

export function startOf(page: Page, given: RawItem | undefined): Start | null {
  if (given === undefined) return null;
  const schemas = startKeySchemas(page);
  const names = new Set(schemas.flatMap(({ attributes }) => attributes.map(({ name }) => name)));
  if (Object.keys(given).length !== names.size) throw notAKey();
  const [ofView, ofTable] = schemas.map((schema) => validKey(() => keyOf(schema, admitItem(given))));
  const { partition, sort } = ofView as Key;
  return { partition, place: { key: sort, tie: ofTable === undefined ? '' : page.table.idOf(ofTable) } };
}

function validKey(key: () => Key): Key {
  try {
    return key();
  } catch {
    throw notAKey();
  }
}

const notAKey = (): Error => invalid('The provided starting key is invalid');
