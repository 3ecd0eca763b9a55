/**
 * Takes the pictures of docs/screenshots: starts the whole system of `npm start` in a folder of its own, makes up what takes
 * days to happen, and looks at it in a browser.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { nextTick } from '../../dist/dashboard/forecasts.js';
import { formatInstant, plusMs } from '../../dist/src/domain/instant.js';
import { COLLECTING_PROCESSES, runId } from '../../dist/src/domain/runs.js';
import { TWICE_SOLD, WEBHOOK_SECRET, makeUp } from './made-up.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pictures = join(root, 'docs/screenshots');
const TOKEN = 'a-token-for-pictures-only';

const WIDE = { width: 1280, height: 900 };
/** All of what it sorts jobs by fits on one line. */
const BOARD = { width: 1600, height: 900 };
/** Two screens of a telephone: pages are longer there than anybody looks at in a picture. */
const TELEPHONE = { width: 390, height: 2 * 844 };

const folder = await mkdtemp(join(tmpdir(), 'collections-pictures-'));
const system = spawn(process.execPath, [join(root, 'dist/src/cli/start.js')], {
  env: {
    ...process.env,
    DATA_DIR: folder,
    PORT: '0',
    DASHBOARD_PORT: '0',
    API_TOKENS: `jane:operator:${TOKEN}`,
    LEMONSQUEEZY_SECRET: WEBHOOK_SECRET,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let browser;
let bank;
let now;
try {
  const output = await until(system, 'Ctrl-C stops everything');
  const [url, apiUrl] = ['Console', 'API'].map((name) => addressOf(name, output));
  const environment = JSON.parse(await readFile(join(folder, 'environment.json'), 'utf8'));
  bank = environment.PAYMENTS_SERVICE_URL;
  now = await makeUp(environment, { url: apiUrl, token: TOKEN });
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

/** Where the summary of `npm start` says that it is. */
function addressOf(name, output) {
  return new RegExp(`${name}\\s+│\\s+(http:\\S+)`).exec(output)[1];
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

async function takeAll(url) {
  const light = await signedIn(url, { colorScheme: 'light', viewport: WIDE });
  await take(light, url, '/', 'today');
  const [run] = await runLinks(light, url, 'retry');
  await take(light, url, `${run}/records?verdict=refused`, 'records');
  const member = await memberOf(light, url, `${run}/records?verdict=refused`);
  await take(light, url, member, 'member');
  await take(light, url, '/floats', 'floats');
  const float = await floatOf(light);
  await take(light, url, float, 'member-float');
  await take(light, url, '/recurring', 'recurring');
  await take(light, url, `/gateways?owner=${TWICE_SOLD}`, 'gateways');
  await take(light, url, '/unsettled', 'unsettled');
  await take(light, url, '/freezes', 'freezes');
  await take(light, url, '/quarantine', 'quarantine');
  await takeBoard(light, url);

  const dark = await signedIn(url, { colorScheme: 'dark', viewport: WIDE });
  await take(dark, url, '/', 'today-dark');
  await take(dark, url, member, 'member-dark');
  const phone = await signedIn(url, {
    colorScheme: 'light',
    viewport: TELEPHONE,
    deviceScaleFactor: 2,
    isMobile: true,
  });
  await take(phone, url, '/', 'today-phone', { fullPage: false });
  await take(phone, url, '/floats', 'floats-phone', { fullPage: false });
  await take(phone, url, member, 'member-phone', { fullPage: false });
  const stranger = await (await browser.newContext({ viewport: WIDE })).newPage();
  await take(stranger, url, '/sign-in', 'sign-in');
  await takeForetold(light, url);
}

async function takeBoard(page, url) {
  await page.setViewportSize(BOARD);
  await page.goto(`${url}/queues/`);
  await page.getByText('collections-scheduled').first().waitFor();
  await page.getByText('Loading').waitFor({ state: 'hidden' });
  await page.screenshot({ path: join(pictures, 'queues.png') });
  await page.setViewportSize(WIDE);
}

/** The forecasts, and a run beside its own. Last: whoever was due has been charged, so others join, and time passes. */
async function takeForetold(page, url) {
  await promisify(execFile)(
    process.execPath,
    [join(root, 'dist/src/cli/main.js'), 'sandbox', 'seed', '--users', '120', '--prefix', 'more'],
    { env: { ...process.env, DATA_DIR: folder } },
  );
  await page.goto(`${url}/forecast`);
  for (const process of COLLECTING_PROCESSES) {
    await page.getByRole('button', { name: `Forecast ${process}`, exact: true }).click();
    await page.locator(`[data-fragment="forecast-${process}"]`).getByText('it would look at').waitFor();
  }
  await take(page, url, '/forecast', 'forecast');
  await take(page, url, await foretoldRun(page, url), 'run');
}

/** Lets time pass until the run that was foretold has been made. */
async function foretoldRun(page, url) {
  const tick = nextTick('scheduled', now);
  await fetch(`${bank}/clock`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ now: formatInstant(plusMs(tick, 60_000)) }),
  });
  const path = `/runs/${runId('scheduled', tick)}`;
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

async function take(page, url, path, name, { fullPage } = { fullPage: true }) {
  await page.goto(url + path);
  if ((await page.locator('.live').count()) > 0) await page.locator('.live[data-state="on"]').waitFor();
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage });
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
