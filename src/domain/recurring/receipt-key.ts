import { isoText, msOf } from '../instant.ts';
import type { Receipt } from './recurring.ts';

/** As many as an account can ever need, so that keys sort by number. */
const WIDTH = 10;

export const receiptNumberText = (number: number): string => String(number).padStart(WIDTH, '0');

/** The number is glued to the time, as others expect it: the width keeps the two apart. */
export const receiptKey = ({
  number,
  processedDate,
  sku,
}: Pick<Receipt, 'number' | 'processedDate' | 'sku'>): string =>
  `REC#${receiptNumberText(number)}${isoText(msOf(processedDate))}#SKU#${sku}`;

/** Everything that a receipt of this number can begin with. */
export const receiptKeyPrefix = (number: number): string => `REC#${receiptNumberText(number)}`;
