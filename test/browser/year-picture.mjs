/**
 * Takes docs/screenshots/year.png of a page that `npm run demo` has made: the first argument, or demo-report.html. Apart
 * from the other pictures, because a year takes minutes.
 */
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const page = pathToFileURL(resolve(process.argv[2] ?? 'demo-report.html'));
const picture = fileURLToPath(new URL('../../docs/screenshots/year.png', import.meta.url));

const browser = await chromium.launch({
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
try {
  const tab = await (
    await browser.newContext({ colorScheme: 'light', viewport: { width: 1280, height: 900 } })
  ).newPage();
  await tab.goto(page.href);
  await tab.screenshot({ path: picture, fullPage: true });
} finally {
  await browser.close();
}
