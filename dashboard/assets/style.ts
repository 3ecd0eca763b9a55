/** Kept as text in a module, so that the compiled output holds everything that is served. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #faf9f6; --card: #ffffff; --ink: #1c1e21; --soft: #5d636b; --line: #e3e0d9; --wash: #f2f0ea;
  --accent: #1f5f8b; --accent-ink: #ffffff; --focus: #1f5f8b;
  --collected: #2f7d5b; --sent: #4f86b8; --unpaid: #d0862f; --closed: #9a978f; --later: #cfccc4; --trouble: #b6332b;
  --good-wash: #e6f1ec; --warn-wash: #fbf0df; --bad-wash: #fae7e5; --good: #22604a; --warn: #85500d; --bad: #9c2b24;
  --shadow: 0 1px 2px rgb(28 30 33 / 6%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a; --card: #1b1e23; --ink: #e7e6e3; --soft: #9ba1aa; --line: #2c3037; --wash: #22262c;
    --accent: #7fb4dc; --accent-ink: #10202c; --focus: #9cc8ea;
    --collected: #5bb08a; --sent: #6fa3d2; --unpaid: #e0a35a; --closed: #77756f; --later: #3c4048; --trouble: #e0736b;
    --good-wash: #1b2f27; --warn-wash: #33291a; --bad-wash: #361f1e; --good: #83cfae; --warn: #e8b878; --bad: #f0a09a;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
a { color: var(--accent); text-underline-offset: 2px; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
h1:focus { outline: none; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 2; }
.quiet { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

header.top { background: var(--card); border-bottom: 1px solid var(--line); }
.top .inner { max-width: 76rem; margin: 0 auto; padding: .3rem 1.5rem; display: flex; align-items: center; gap: 1.75rem; min-height: 3.5rem; }
.brand { font-weight: 650; letter-spacing: -.01em; color: var(--ink); text-decoration: none; white-space: nowrap; }
.brand svg { width: 1.05em; height: 1.05em; vertical-align: -.14em; margin-right: .5em; }
nav.sections { flex: 1; min-width: 0; }
nav.sections ul { display: flex; flex-wrap: wrap; gap: 0; list-style: none; margin: 0; padding: 0; }
nav.sections a { display: block; padding: .35rem .45rem; font-size: .9rem; border-radius: 6px; color: var(--soft); text-decoration: none; white-space: nowrap; }
nav.sections a:hover { background: var(--wash); color: var(--ink); }
nav.sections a[aria-current] { background: var(--wash); color: var(--ink); font-weight: 600; }
.who { display: flex; align-items: center; gap: .75rem; white-space: nowrap; color: var(--soft); font-size: .875rem; }
.who form { margin: 0; }

main { max-width: 76rem; margin: 0 auto; padding: 1.75rem 1.5rem 4rem; }
.title { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; margin-bottom: 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.2; letter-spacing: -.02em; font-weight: 650; margin: 0; overflow-wrap: anywhere; }
section > h2:first-letter { text-transform: capitalize; }
h2 { font-size: 1.05rem; letter-spacing: -.005em; font-weight: 650; margin: 0 0 .75rem; }
h3 { font-size: .95rem; font-weight: 650; margin: 0 0 .5rem; }
.sub, .hint { color: var(--soft); }
.hint { font-size: .875rem; margin: .25rem 0 0; } body.door .hint { margin-bottom: 1.25rem; }
p { margin: 0 0 .75rem; max-width: 68ch; }
p, li, dd, .text { overflow-wrap: anywhere; }
section p { max-width: 96ch; }
code, .id { font: .86em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }

section, .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.15rem 1.25rem; margin-bottom: 1.25rem; box-shadow: var(--shadow); min-width: 0; }
.grid { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); align-items: start; }
.grid > * { margin-bottom: 0; }
.grid + *, .grid { margin-bottom: 1.25rem; }

.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: 1rem 0; background: none; border: 0; box-shadow: none; padding: 0; margin: 0 0 1.5rem; }
.figures + .hint { margin: -.75rem 0 1.5rem; max-width: none; }
.figures > div { padding: .1rem 1.25rem; border-left: 3px solid var(--line); }
.figures dt { color: var(--soft); font-size: .85rem; }
.figures dd { margin: 0; white-space: nowrap; font-size: 1.65rem; font-weight: 600; letter-spacing: -.02em; line-height: 1.25; }
.figures dd small { display: block; font-size: .85rem; font-weight: 400; letter-spacing: 0; color: var(--soft); }
.edge-collected { border-left-color: var(--collected) !important; } .edge-sent { border-left-color: var(--sent) !important; }
.edge-unpaid { border-left-color: var(--unpaid) !important; } .edge-later { border-left-color: var(--later) !important; }
.edge-trouble { border-left-color: var(--trouble) !important; } .edge-closed { border-left-color: var(--closed) !important; }

.scroll { overflow-x: auto; margin: 0 -1.25rem; padding: 0 1.25rem; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--soft); font-size: .875rem; padding-bottom: .5rem; }
th, td { text-align: left; padding: .5rem .9rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child > th, tr:last-child > td { border-bottom: 0; }
thead th { font-size: .8rem; font-weight: 600; color: var(--soft); white-space: nowrap; padding-top: 0; }
tbody th { font-weight: 500; }
th.n, td.n { text-align: right; white-space: nowrap; }
td:last-child, th:last-child { padding-right: 0; }
td.tight { white-space: nowrap; }
table.tally th:first-child { width: 11rem; } table.tally .n { width: 7.5rem; } table.tally th:last-child, table.tally .reasons { padding-left: 1.25rem; }
table.dense th, table.dense td { padding-top: .28rem; padding-bottom: .28rem; border-bottom: 0; } table.dense thead th { padding-bottom: .4rem; } table.dense a { text-decoration: none; } table.dense a:hover { text-decoration: underline; }
table.dense .group th { padding-top: .7rem; border-top: 1px solid var(--line); text-transform: capitalize; }
.reasons { color: var(--soft); font-size: .875rem; }
.group th { color: var(--soft); font-size: .8rem; padding-top: .9rem; }
.zero { color: var(--soft); }
time .clock { color: var(--soft); }

.pill { display: inline-block; padding: .05rem .55rem; border-radius: 999px; font-size: .8rem; font-weight: 550; background: var(--wash); color: var(--soft); white-space: nowrap; }
.pill.good { background: var(--good-wash); color: var(--good); } .pill.warn { background: var(--warn-wash); color: var(--warn); } .pill.bad { background: var(--bad-wash); color: var(--bad); }
.dot { display: inline-block; width: .65em; height: .65em; border-radius: 2px; margin-right: .45em; }
.dot-collected { background: var(--collected); } .dot-sent { background: var(--sent); } .dot-unpaid { background: var(--unpaid); }
.dot-closed { background: var(--closed); } .dot-later { background: var(--later); } .dot-trouble { background: var(--trouble); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; list-style: none; padding: 0; margin: 0 0 .75rem; font-size: .875rem; color: var(--soft); }

progress { appearance: none; width: 100%; min-width: 7rem; height: 6px; border: 0; border-radius: 3px; background: var(--wash); overflow: hidden; display: block; margin-top: .45rem; }
progress::-webkit-progress-bar { background: var(--wash); }
progress::-webkit-progress-value { background: var(--accent); transition: width .6s ease; }
progress::-moz-progress-bar { background: var(--accent); }
@media (prefers-reduced-motion: reduce) { progress::-webkit-progress-value { transition: none; } }

.plot { display: block; width: 100%; height: auto; } .on-narrow { display: none; }
.plot .grid { stroke: var(--line); stroke-width: 1; } .plot .axis { fill: var(--soft); font-size: 10px; }
.plot .hit { fill: transparent; } .plot g:hover .hit { fill: var(--wash); }
.fill-collected { fill: var(--collected); } .fill-sent { fill: var(--sent); } .fill-unpaid { fill: var(--unpaid); }
.fill-closed { fill: var(--closed); } .fill-trouble { fill: var(--trouble); }
.meter { display: block; width: 100%; height: 8px; border-radius: 4px; overflow: hidden; }
.meter .track { fill: var(--wash); } .meter .under { fill: var(--collected); } .meter .near { fill: var(--warn); } .meter .over { fill: var(--trouble); }
.meter .limit { stroke: var(--ink); stroke-width: .8; vector-effect: non-scaling-stroke; }
.rate { margin-bottom: 1rem; } .rate:last-child { margin-bottom: 0; }
.rate .line { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem; margin-bottom: .3rem; }

.banner { padding: .75rem 1rem; border-radius: 8px; margin-bottom: 1.25rem; }
.banner p { margin: 0; max-width: none; } .banner p + p { margin-top: .35rem; }
.banner.bad { background: var(--bad-wash); color: var(--bad); } .banner.warn { background: var(--warn-wash); color: var(--warn); } .banner.good { background: var(--good-wash); color: var(--good); }
.banner a { color: inherit; }
.missing { color: var(--soft); font-style: italic; margin: 0; }

label { display: block; font-size: .875rem; font-weight: 550; margin-bottom: .25rem; }
input, select, textarea, button, .button {
  font: inherit; color: inherit; border: 1px solid var(--line); border-radius: 7px; padding: .45rem .7rem; background: var(--card); max-width: 100%;
}
input, select, textarea { width: 100%; background: var(--paper); }
.field { margin-bottom: .9rem; }
.row { display: grid; gap: .9rem; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); align-items: end; }
.row { margin-bottom: .9rem; } .row .field { margin: 0; } input:not([type=hidden]), select { height: 2.5rem; }
button, .button { cursor: pointer; font-weight: 550; text-decoration: none; display: inline-block; white-space: nowrap; }
button:hover, .button:hover { background: var(--wash); }
button.main { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
button.main:hover { filter: brightness(1.08); }
button.danger { background: var(--trouble); border-color: var(--trouble); color: #fff; }
@media (prefers-color-scheme: dark) { button.danger { color: #2a0f0d; } }
button.small { padding: .2rem .6rem; font-size: .85rem; }
section > .actions { margin-top: 1rem; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; } .actions form { margin: 0; }
td .actions { flex-wrap: nowrap; }
.search { display: flex; gap: .5rem; max-width: 38rem; } .search input { flex: 1; }

.timeline { list-style: none; margin: 0; padding: 0 0 0 1.1rem; border-left: 2px solid var(--line); }
.timeline li { position: relative; padding: 0 0 .95rem; }
.timeline li:last-child { padding-bottom: 0; }
.timeline li::before { content: ""; position: absolute; left: -1.45rem; top: .5em; width: .6rem; height: .6rem; border-radius: 50%; background: var(--card); border: 2px solid var(--closed); }
.timeline li.kind-attempt::before { border-color: var(--sent); } .timeline li.kind-verdict::before { border-color: var(--unpaid); }
.timeline li.kind-good::before { border-color: var(--collected); background: var(--collected); }
.timeline li.kind-bad::before { border-color: var(--trouble); background: var(--trouble); }
.timeline .text:first-letter, .summary:first-letter { text-transform: capitalize; }
.timeline .when { display: block; font-size: .82rem; color: var(--soft); }
details > summary { cursor: pointer; color: var(--accent); font-size: .9rem; padding: .25rem 0; }
details pre { background: var(--wash); padding: .75rem; border-radius: 6px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .82rem; margin: .5rem 0 0; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.25rem; margin: 0; }
.facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.pager { display: flex; gap: 1rem; margin-top: 1rem; }
.live { font-size: .8rem; color: var(--soft); } .live[data-state="on"]::before, .live[data-state="off"]::before { content: ""; display: inline-block; width: .5rem; height: .5rem; border-radius: 50%; margin-right: .4rem; background: var(--collected); }
.live[data-state="off"]::before { background: var(--unpaid); }

.narrow { max-width: 30rem; margin: 0 auto; } body.door main { padding-top: 12vh; max-width: 26rem; } body.door .brand { font-size: 1.15rem; display: block; margin-bottom: 1.25rem; }
footer { max-width: 76rem; margin: -2.5rem auto 0; padding: 0 1.5rem 1.5rem; color: var(--soft); font-size: .875rem; }
.narrow.wide { max-width: 40rem; margin: 0; }

@media (max-width: 48rem) {
  .top .inner { flex-wrap: wrap; gap: .25rem 1rem; padding: .6rem 1rem .35rem; }
  .brand { flex: 1; } nav.sections { order: 3; flex-basis: 100%; margin: 0 -.6rem; } nav.sections ul { gap: 0; } nav.sections a { padding: .35rem .6rem; }
  .who .role { display: none; }
  main { padding: 1.25rem 1rem 3rem; } footer { padding: 0 1rem 1rem; margin-top: -1.5rem; } section, .card { padding: 1rem; } .scroll { margin: 0 -1rem; padding: 0 1rem; }
  .figures { grid-template-columns: 1fr 1fr; gap: 1rem 0; } .figures > div { padding: .1rem 0 .1rem .9rem; } .figures dd { font-size: 1.3rem; }
  .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin-bottom: .6rem; }
  .on-wide { display: none; } .on-narrow { display: block; }
  table.dense { font-size: .875rem; } table.dense th, table.dense td { padding-right: .5rem; overflow-wrap: anywhere; } table.dense thead th { font-size: .75rem; }
  table.tally th:last-child, table.tally .reasons { padding-left: 0; } table.tally th:first-child, table.tally .n { width: auto; }
  table.stack thead { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }
  table.stack tr { display: block; padding: .6rem 0; border-bottom: 1px solid var(--line); } table.stack tr:last-child { border: 0; }
  table.stack th, table.stack td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .15rem 0; text-align: right; white-space: normal; }
  table.stack td[data-label]::before { content: attr(data-label); color: var(--soft); text-align: left; flex: none; }
  table.stack .full { display: block; text-align: left; } table.stack .none { display: none; }
}
@media print { header.top, .actions, form { display: none; } }
`;
