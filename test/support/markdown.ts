/** A fenced block of a page: what follows its fence, and where its text begins. */
export interface FencedBlock {
  /** `sh runnable`. */
  readonly info: string;
  readonly text: string;
  /** Of the page, from 1 on. */
  readonly firstLine: number;
}

/** In a list it is indented; one of four ticks may hold one of three. */
const FENCE = /^ *(`{3,})(.*)$/;

/** The lines of a page, and of which block each is; fences are of their block. */
function* linesOf(
  page: string,
): Generator<{ readonly line: string; readonly n: number; readonly block: Opening | null }> {
  let block: Opening | null = null;
  for (const [index, line] of page.split('\n').entries()) {
    const [, ticks = '', info = ''] = FENCE.exec(line) ?? [];
    const opens: boolean = ticks !== '' && block === null;
    if (opens) block = { ticks, info, firstLine: index + 2 };
    yield { line, n: index + 1, block };
    const isEnd: boolean = !opens && block !== null && info === '' && ticks.length >= block.ticks.length;
    if (isEnd) block = null;
  }
}

interface Opening {
  readonly ticks: string;
  readonly info: string;
  readonly firstLine: number;
}

export function blocksIn(page: string): FencedBlock[] {
  const blocks = new Map<Opening, string[]>();
  for (const { line, block } of linesOf(page))
    if (block !== null) blocks.set(block, [...(blocks.get(block) ?? []), line]);
  return [...blocks].map(([{ info, firstLine }, lines]) => ({
    info,
    firstLine,
    text: lines.slice(1, -1).join('\n'),
  }));
}

/** Those that are no code. */
const proseLines = (page: string) => [...linesOf(page)].filter(({ block }) => block === null);

/** Links and pictures that lead to a file or a heading of the repository. */
export const linksIn = (page: string): { readonly line: number; readonly target: string }[] =>
  proseLines(page).flatMap(({ line: text, n: line }) =>
    [...text.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(([^()\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => ({ line, target })),
  );

export const headingsIn = (page: string): string[] =>
  proseLines(page).flatMap(({ line }) => /^#+ (.+)$/.exec(line)?.[1] ?? []);

/** As GitHub makes them: small letters, dashes for spaces, no other signs, and a number on what is there already. */
export function anchorsIn(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of headingsIn(page)) {
    const plain = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = plain;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${plain}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}
