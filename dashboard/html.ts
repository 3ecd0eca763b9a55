/** HTML that is safe to send. Only `html` makes it, so nothing reaches a page that was not escaped. */
class SafeHtml {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type Html = SafeHtml;

/** What may stand in a template. Nothing is shown for null, undefined and false. */
export type Renderable = Html | string | number | bigint | null | undefined | false | readonly Renderable[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Values are escaped for text and for quoted attributes. An attribute without quotes is a mistake. */
export function html(template: TemplateStringsArray, ...values: readonly Renderable[]): Html {
  const parts = template.map((text, index) => text + render(values[index]));
  return new SafeHtml(parts.join(''));
}

function render(value: Renderable): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof SafeHtml) return value.toString();
  if (typeof value === 'object') return value.map(render).join('');
  return String(value).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
