/** What a page has between the two marks of a name. */
export type Blocks = Readonly<Record<string, string>>;

const opening = (name: string): string => `<!-- generated: ${name} -->`;
const closing = (name: string): string => `<!-- end of ${name} -->`;

/** The page with its blocks written anew; what people wrote around them stays. */
export function withBlocks(page: string, blocks: Blocks): string {
  const named = [...page.matchAll(/^<!-- generated: (.+) -->$/gm)].map(([, name = '']) => name);
  const missing = Object.keys(blocks).filter((name) => !named.includes(name));
  if (missing.length > 0) throw new Error(`the page has no place for ${missing.join(', ')}`);
  return named.reduce((text, name) => {
    const block = blocks[name];
    if (block === undefined) throw new Error(`nobody makes the block ${name}`);
    return replaced(text, name, block);
  }, page);
}

function replaced(page: string, name: string, block: string): string {
  const from = page.indexOf(opening(name)) + opening(name).length;
  const to = page.indexOf(closing(name), from);
  if (to === -1) throw new Error(`the block ${name} has no end`);
  return `${page.slice(0, from)}\n\n${block}\n\n${page.slice(to)}`;
}

export const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export const diagram = (lines: readonly string[]): string => ['```mermaid', ...lines, '```'].join('\n');

export const code = (text: string): string => `\`${text}\``;
