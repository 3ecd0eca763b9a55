/** A fenced block of a page: what follows its fence, and where its text begins. */
export interface FencedBlock {
  /** `sh runnable`. */
  readonly info: string;
  readonly text: string;
  /** Of the page, from 1 on. */
  readonly firstLine: number;
}

/** In a list it is indented. */
const FENCE = /^ *```(.*)$/;

export function blocksIn(page: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { info: string; firstLine: number; lines: string[] } | null = null;
  for (const [n, line] of page.split('\n').entries()) {
    const fence = FENCE.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === null) open = { info: fence[1] ?? '', firstLine: n + 2, lines: [] };
    else {
      blocks.push({ info: open.info, firstLine: open.firstLine, text: open.lines.join('\n') });
      open = null;
    }
  }
  return blocks;
}

/** The same lines, those of fenced blocks empty. */
function proseLines(page: string): string[] {
  let isCode = false;
  return page.split('\n').map((line) => {
    const isFence = FENCE.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? '' : line;
  });
}

/** Links and pictures that lead to a file or a heading of the repository. */
export const linksIn = (page: string): { readonly line: number; readonly target: string }[] =>
  proseLines(page).flatMap((text, n) =>
    [...text.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(([^()\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => ({ line: n + 1, target })),
  );

export const headingsIn = (page: string): string[] =>
  proseLines(page).flatMap((line) => /^#+ (.+)$/.exec(line)?.[1] ?? []);

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
