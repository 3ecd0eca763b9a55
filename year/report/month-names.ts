import { day } from '../../dashboard/format.ts';
import type { Month } from '../figures/months.ts';

/** `Jan` */
export const shortMonth = (month: Month): string => day(`${month}-01`).split(' ')[1] ?? '';

/** `Jan 2030` */
export const longMonth = (month: Month): string => day(`${month}-01`).slice(2);
