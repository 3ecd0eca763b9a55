/** The users whose hash is `index` modulo `of`. */
export interface Bucket {
  readonly index: number;
  readonly of: number;
}

export const EVERYBODY: Bucket = { index: 0, of: 1 };

export const holds = ({ index, of }: Bucket, userId: string): boolean =>
  of === 1 || hash(userId) % of === index;

/** Two buckets that hold together what the one held. */
export const halves = ({ index, of }: Bucket): [Bucket, Bucket] => [
  { index, of: of * 2 },
  { index: index + of, of: of * 2 },
];

/** FNV-1a: spreads well enough, and needs no secret. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  // The low bits alone would follow the last letters.
  return (value ^ (value >>> 15)) >>> 0;
}
