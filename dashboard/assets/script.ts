/**
 * All that runs in the browser: puts in place what the server has rendered anew. Without it every page still works, and
 * shows how things were when it was loaded.
 */
export const SCRIPT = `
'use strict';
(() => {
  const topics = (document.body.dataset.topics || '').split(' ').filter(Boolean);
  const light = document.querySelector('.live');
  const announcer = document.getElementById('announcer');

  const mark = (state, text) => {
    if (!light) return;
    light.dataset.state = state;
    light.textContent = text;
  };

  /* Whoever has tabbed into a part that is replaced must not be thrown back to the top of the page. */
  const replace = (place, text) => {
    const active = place.contains(document.activeElement) ? document.activeElement : null;
    const wanted = active && (active.id ? '#' + CSS.escape(active.id) : active.getAttribute('href') && '[href="' + CSS.escape(active.getAttribute('href')) + '"]');
    const open = [...place.querySelectorAll('details[open]')].map((each) => each.id);
    place.innerHTML = text;
    for (const id of open) if (id) document.getElementById(id)?.setAttribute('open', '');
    if (wanted) place.querySelector(wanted)?.focus();
  };

  const announce = (place) => {
    const text = place.querySelector('[data-announce]')?.dataset.announce;
    if (!text || !announcer || place.dataset.announced === text) return;
    if (place.dataset.announced !== undefined) announcer.textContent = text;
    place.dataset.announced = text;
  };

  /* What depends on who looks is not told live: the page is asked for once more. */
  const refresh = async () => {
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const place of document.querySelectorAll('[data-refreshed]')) {
      const next = fresh.getElementById(place.id);
      if (next) replace(place, next.innerHTML);
    }
  };

  if (topics.length > 0 && 'EventSource' in window) {
    for (const place of document.querySelectorAll('[data-fragment]')) announce(place);
    const source = new EventSource('/live?' + new URLSearchParams(topics.map((topic) => ['topic', topic])));
    source.onopen = () => mark('on', 'live');
    source.onerror = () => mark('off', source.readyState === EventSource.CLOSED ? 'not live: load the page again' : 'connecting …');
    source.onmessage = ({ data }) => {
      for (const [name, text] of Object.entries(JSON.parse(data))) {
        const place = document.querySelector('[data-fragment="' + CSS.escape(name) + '"]');
        if (!place || place.innerHTML === text) continue;
        replace(place, text);
        announce(place);
        if (place.querySelector('[data-refresh]')) void refresh();
      }
    };
    addEventListener('pagehide', () => source.close());
  }

  /* One press, one order: the server would take it for the same anyway. */
  addEventListener('submit', ({ target }) => {
    for (const button of target.querySelectorAll('button')) setTimeout(() => (button.disabled = true));
  });
})();
`;
