import { createHash } from 'node:crypto';
import type { HealthReport } from '../src/ports/health.ts';
import type { Caller } from '../src/ports/caller.ts';
import { SCRIPT } from './assets/script.ts';
import { STYLE } from './assets/style.ts';
import type { Html, Renderable } from './html.ts';
import { html } from './html.ts';

/** Whatever changes gets another address, so that browsers may keep it. */
const version = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

export const STYLE_URL = `/assets/console.css?v=${version(STYLE)}`;
export const SCRIPT_URL = `/assets/console.js?v=${version(SCRIPT)}`;

const SECTIONS = [
  ['/', 'Today'],
  ['/forecast', 'Forecast'],
  ['/floats', 'Floats'],
  ['/recurring', 'Recurring'],
  ['/users', 'Members'],
  ['/freezes', 'Freezes'],
  ['/unsettled', 'Unsettled'],
  ['/quarantine', 'Quarantine'],
  ['/gateways', 'Gateways'],
  ['/queues', 'Queues'],
] as const;

export type SectionPath = (typeof SECTIONS)[number][0];

export interface Frame {
  readonly title: string;
  readonly section: SectionPath | null;
  readonly caller: Caller;
  readonly health: HealthReport;
  /** What the page listens to. */
  readonly topics?: readonly string[];
  /** Changes with what the page shows that depends on the viewer: then the page is asked for anew. */
  readonly mark?: Html | null;
  /** What came of what was just done. */
  readonly notice?: Html | null;
}

export function framedPage(
  { title, section, caller, health, topics = [], mark, notice }: Frame,
  body: Html,
): string {
  return documentOf({ title, topics: ['banner', ...topics] })(html`
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <div class="inner">
        <a class="brand" href="/">${LOGO}Collections</a>
        <nav class="sections" aria-label="Sections">
          <ul>
            ${SECTIONS.map(
              ([path, name]) =>
                html`<li>
                  <a href="${path}" ${path === section ? html` aria-current="page"` : null}>${name}</a>
                </li>`,
            )}
          </ul>
        </nav>
        <div class="who">
          <span>${caller.name}<span class="role"> · ${caller.role}</span></span>
          <form method="post" action="/sign-out"><button class="small">Sign out</button></form>
        </div>
      </div>
    </header>
    <main id="main">
      <div data-fragment="banner">${outageBanner(health)}</div>
      <div data-fragment="mark" hidden>${mark}</div>
      ${notice}${body}
      <div id="announcer" class="quiet" role="status" aria-live="polite"></div>
    </main>
    <footer>All times are UTC.</footer>
  `);
}

/** A page for a visitor who is not signed in. */
export const doorPage = (title: string, body: Html): string =>
  documentOf({ title, topics: [], door: true })(html`
    <main id="main"><a class="brand" href="/">${LOGO}Collections</a>${body}</main>
  `);

const documentOf =
  ({ title, topics, door = false }: { title: string; topics: readonly string[]; door?: boolean }) =>
  (body: Html): string =>
    `<!doctype html>${html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title} · Collections</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${STYLE_URL}" />
        <script src="${SCRIPT_URL}" defer></script>
      </head>
      <body class="${door ? 'door' : ''}" data-topics="${topics.join(' ')}">
        ${body}
      </body>
    </html>`.toString()}`;

/** Tells one state of what is shown from another. */
export const markOf = (shown: Html): Html => html`<i data-refresh="${version(shown.toString())}"></i>`;

const LOGO = html`<svg viewBox="0 0 16 16" aria-hidden="true">
  <rect x="1" y="8" width="3.5" height="7" rx="1" fill="currentColor" opacity=".45" />
  <rect x="6.25" y="4.5" width="3.5" height="10.5" rx="1" fill="currentColor" opacity=".7" />
  <rect x="11.5" y="1" width="3.5" height="14" rx="1" fill="currentColor" />
</svg>`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="#1f5f8b"><rect x="1" y="8" width="3.5" height="7" rx="1" opacity=".45"/><rect x="6.25" y="4.5" width="3.5" height="10.5" rx="1" opacity=".7"/><rect x="11.5" y="1" width="3.5" height="14" rx="1"/></svg>`;

const OUTAGES: Readonly<Record<string, string>> = {
  dynamodb:
    'DynamoDB does not answer. Records, runs and freezes cannot be shown or changed until it is back; no money moves meanwhile.',
  redis:
    'Redis does not answer. Queues cannot be seen, and workers wait. What you order is stored and carried out when it is back.',
};

export function outageBanner({ checks }: HealthReport): Html | null {
  const down = Object.entries(OUTAGES).filter(([name]) => checks[name] === 'down');
  return down.length === 0
    ? null
    : html`<div
        class="banner bad"
        role="alert"
        data-announce="${down.map(([name]) => name).join(' and ')} down"
      >
        ${down.map(([, text]) => html`<p>${text}</p>`)}
      </div>`;
}

export const notice = (kind: 'good' | 'warn' | 'bad', text: Renderable): Html =>
  html`<div class="banner ${kind}" role="status"><p>${text}</p></div>`;

/** Where something would stand if the service that knows it answered. */
export const missing = (what: string): Html =>
  html`<p class="missing">${what} cannot be shown right now.</p>`;

export const LIVE_LIGHT = html`<span class="live" role="presentation"></span>`;
