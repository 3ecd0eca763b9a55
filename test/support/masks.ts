/** What is a number by chance is no mask: ids, times, ports. */
const withoutNumbers = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"(pid|ms|port|metricsPort|durationMs)":[\d.]+/g, 'NUMBER');

/** Whether a text tells the last digits of somebody's card or account, rather than digits that some id happens to have. */
export const tellsMask = (text: string, mask: string): boolean =>
  new RegExp(`(?<![0-9a-f])${mask}(?![0-9a-f])`).test(withoutNumbers(text));
