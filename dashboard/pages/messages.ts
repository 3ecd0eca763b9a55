import type { Html, Renderable } from '../html.ts';
import { html } from '../html.ts';

export interface Confirmation {
  readonly title: string;
  readonly action: string;
  /** What will happen, in full. */
  readonly text: Renderable;
  /** Sent along again. */
  readonly fields: Readonly<Record<string, string>>;
  /** Asked for here. */
  readonly inputs?: Html | null;
  readonly button: string;
  readonly back: string;
}

/**
 * Asks once more, and says what it is that is asked. Not with the button at hand: a key that is pressed twice must not
 * answer for an operator who has not read the question.
 */
export const confirmPage = ({
  title,
  action,
  text,
  fields,
  inputs = null,
  button,
  back,
}: Confirmation): Html =>
  html`<div class="title">
      <h1 ${inputs === null ? html`tabindex="-1" autofocus` : null}>${title}</h1>
    </div>
    <section class="narrow wide">
      ${text}
      <form method="post" action="${action}">
        ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
        <input type="hidden" name="confirmed" value="yes" />
        ${inputs}
        <div class="actions">
          <button class="danger">${button}</button><a class="button" href="${back}">Back</a>
        </div>
      </form>
    </section>`;

export const reasonInput = html`<div class="field">
  <label for="reason">Reason, shown to other operators</label
  ><input id="reason" name="reason" required maxlength="500" autocomplete="off" autofocus />
</div>`;

export const messagePage = (title: string, text: Renderable, back = '/'): Html =>
  html`<div class="title"><h1>${title}</h1></div>
    <section class="narrow wide">
      <p>${text}</p>
      <p><a class="button" href="${back}">Back</a></p>
    </section>`;

export const signInForm = ({
  next,
  failure,
}: {
  readonly next: string;
  readonly failure: string | null;
}): Html =>
  html`<section>
    <h1>Sign in</h1>
    <p class="hint">With a name and token of <code>API_TOKENS</code>.</p>
    ${failure === null ? null : html`<div class="banner bad" role="alert"><p>${failure}</p></div>`}
    <form method="post" action="/sign-in">
      <input type="hidden" name="next" value="${next}" />
      <div class="field">
        <label for="name">Name</label
        ><input id="name" name="name" required maxlength="255" autocomplete="username" autofocus />
      </div>
      <div class="field">
        <label for="token">Token</label
        ><input
          id="token"
          name="token"
          type="password"
          required
          maxlength="1000"
          autocomplete="current-password"
        />
      </div>
      <button class="main">Sign in</button>
    </form>
  </section>`;
