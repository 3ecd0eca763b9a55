/**
 * Takes the pictures of docs/screenshots: starts the whole system of `npm start` in a folder of its own, adds what takes
 * days to happen (past runs, an event in quarantine, a freeze), and looks at it in a browser.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { clockFrom } from '../../dist/src/adapters/clock/clock-from.js';
import { readConfig } from '../../dist/src/config/read-config.js';
import * as sections from '../../dist/src/config/sections.js';
import { formatInstant, plusDays, plusMs, wholeSecond } from '../../dist/src/domain/instant.js';
import { runId } from '../../dist/src/domain/runs.js';
import { newestTick } from '../../dist/src/domain/schedule.js';
import { nextTick } from '../../dist/dashboard/forecasts.js';
import { openStores } from '../../dist/src/wiring/stores.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pictures = join(root, 'docs/screenshots');
const TOKEN = 'a-token-for-pictures-only';

const folder = await mkdtemp(join(tmpdir(), 'collections-pictures-'));
const system = spawn(process.execPath, [join(root, 'dist/src/cli/start.js')], {
  env: {
    ...process.env,
    DATA_DIR: folder,
    PORT: '0',
    DASHBOARD_PORT: '0',
    API_TOKENS: `jane:operator:${TOKEN}`,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let browser;
let bank;
let now;
try {
  const output = await until(system, 'Ctrl-C stops everything');
  const [, url] = /Console\s+│\s+(http:\S+)/.exec(output);
  const environment = JSON.parse(await readFile(join(folder, 'environment.json'), 'utf8'));
  bank = environment.PAYMENTS_SERVICE_URL;
  await addHistory(environment);
  await mkdir(pictures, { recursive: true });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-sync',
      '--no-first-run',
    ],
  });
  await takeAll(url);
} finally {
  await browser?.close();
  system.kill('SIGTERM');
  if (system.exitCode === null) await new Promise((resolve) => system.once('exit', resolve));
  await rm(folder, { recursive: true, force: true });
}

function until(child, text) {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (part) => {
      output += part;
      process.stdout.write(part);
      if (output.includes(text)) resolve(output);
    });
    child.once('exit', (code) => reject(new Error(`the system ended with ${code}`)));
  });
}

async function addHistory(environment) {
  const config = readConfig(environment, {
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
  });
  const { clock, close } = await clockFrom(config.clock);
  const stores = openStores(config, clock);
  now = clock.now();
  for (let days = 1; days < 60; days += 1) {
    for (const process of ['scheduled', 'retry']) {
      const tick = newestTick(process, plusDays(now, -days));
      await stores.runs.start(pastRun(process, tick, days));
    }
  }
  const event = {
    stream: 'users',
    shardId: 'shardId-000000000000',
    sequence: '49590338271490256608559692538361571095921575989136588898',
    userId: 'demo-000042',
    identity: 'e-1',
    type: 'membership-paused',
    data: { user_id: 'demo-000042', pause_duration_months: -3 },
    receivedAt: wholeSecond(now),
  };
  await stores.inbox.store([event]);
  await stores.inbox.quarantine(event, 'pause_duration_months: −3 is no number of months', wholeSecond(now));
  const freeze = {
    reason: 'asked for a break until payday',
    who: 'jane',
    at: wholeSecond(now),
    until: plusDays(wholeSecond(now), 3),
  };
  await stores.freezes.freeze({ ...freeze, target: { scope: 'user', userId: 'demo-000017' } });
  await stores.close();
  await close();
}

/** Made up, always the same, with a rough patch in the middle. */
function pastRun(process, tick, days) {
  const wave = Math.round(40 * Math.sin(days / 3) + ((days * 37) % 29));
  const [collected, sent] = process === 'scheduled' ? [310 + wave, 120 + (wave >> 1)] : [18 + (days % 7), 9];
  const declined = (process === 'scheduled' ? 34 : 52) + (days > 24 && days < 29 ? 90 : 0) + (days % 5);
  const tally = (count, reasons) => ({ count, amount: count * 499, reasons });
  const byVerdict = {
    collected: tally(collected, { PINLESS: collected }),
    sent: tally(sent, { ACH: sent }),
    declined: tally(declined, { 'insufficient-funds': declined }),
    cancelled: tally(6 + (days % 4), { 'pending-cancellation': 6 + (days % 4) }),
  };
  const records = Object.values(byVerdict).reduce((sum, { count }) => sum + count, 0);
  return {
    runId: runId(process, tick),
    process,
    tick,
    status: 'complete',
    pass: 2,
    page: 0,
    cursor: null,
    due: records,
    enqueuedInPass: 0,
    enqueued: records,
    notOwned: 0,
    startedAt: tick,
    progressAt: tick,
    finishedAt: tick,
    report: { records, amount: records * 499, byVerdict, byPlan: {} },
    forecast: null,
  };
}

async function takeAll(url) {
  const light = await signedIn(url, { colorScheme: 'light', viewport: { width: 1280, height: 900 } });
  await light.getByRole('link', { name: 'Forecast' }).click();
  for (const process of ['scheduled', 'retry', 'pause']) {
    await light.getByRole('button', { name: `Forecast ${process}` }).click();
    await light.locator(`[data-fragment="forecast-${process}"]`).getByText('it would look at').waitFor();
  }
  await take(light, url, '/', 'today');
  await take(light, url, '/forecast', 'forecast');
  const [run] = await runLinks(light, url, 'retry');
  await take(light, url, `${run}/records?verdict=refused`, 'records');
  const member = await memberOf(light, url, `${run}/records?verdict=refused`);
  await take(light, url, member, 'member');
  await take(light, url, '/floats', 'floats');
  const float = await floatOf(light);
  await take(light, url, float, 'member-float');
  await take(light, url, '/recurring', 'recurring');
  await take(light, url, '/gateways', 'gateways');
  await take(light, url, '/freezes', 'freezes');
  await take(light, url, '/quarantine', 'quarantine');
  await light.goto(`${url}/queues/`);
  await light.getByText('collections-scheduled').first().waitFor();
  await light.getByText('Loading').waitFor({ state: 'hidden' });
  await light.screenshot({ path: join(pictures, 'queues.png') });

  const dark = await signedIn(url, { colorScheme: 'dark', viewport: { width: 1280, height: 900 } });
  await take(dark, url, '/', 'today-dark');
  await take(dark, url, member, 'member-dark');
  const phone = await signedIn(url, {
    colorScheme: 'light',
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
  });
  await take(phone, url, '/', 'today-phone');
  await take(phone, url, '/floats', 'floats-phone');
  await take(phone, url, member, 'member-phone');
  await take(light, url, await foretoldRun(light, url), 'run');
  const stranger = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  await take(stranger, url, '/sign-in', 'sign-in');
}

/** Lets time pass until the run that was foretold has been made. */
async function foretoldRun(page, url) {
  const tick = nextTick('retry', now);
  await fetch(`${bank}/clock`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ now: formatInstant(plusMs(tick, 60_000)) }),
  });
  const path = `/runs/${runId('retry', tick)}`;
  for (;;) {
    await page.goto(url + path);
    if ((await page.getByText('complete', { exact: true }).count()) > 0) return path;
    await page.waitForTimeout(1_000);
  }
}

async function signedIn(url, options) {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(url);
  await page.getByLabel('Name').fill('jane');
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  return page;
}

async function take(page, url, path, name) {
  await page.goto(url + path);
  if ((await page.locator('.live').count()) > 0) await page.locator('.live[data-state="on"]').waitFor();
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

async function runLinks(page, url, process) {
  await page.goto(url);
  const links = await page.getByRole('link', { name: process, exact: true }).all();
  return Promise.all(links.map((link) => link.getAttribute('href')));
}

/** On the page of floats: of the one that has a past. */
function floatOf(page) {
  return page.getByRole('region', { name: 'Longest overdue' }).getByRole('link').first().getAttribute('href');
}

async function memberOf(page, url, path) {
  await page.goto(url + path);
  return page.getByRole('cell').getByRole('link').first().getAttribute('href');
}
