import { Worker } from 'bullmq';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OUTCOME_LABELS } from '../../dashboard/outcomes.ts';
import { KEY_PREFIX, connectRedis } from '../../queues/connection.ts';
import { subscriptionLockKey } from '../../src/ports/lock.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import { TOKENS } from '../support/api.ts';
import { openBrowser } from '../support/browser.ts';
import type { Dashboard } from '../support/dashboard.ts';
import { dashboard, isReady } from '../support/dashboard.ts';
import type { Pipeline } from '../support/pipeline.ts';
import { pipeline } from '../support/pipeline.ts';
import { eventually } from '../support/processes.ts';

/** The janitor's queue is left to the test, which lets a job of it fail. */
const QUEUES = 'collection-pages,collections-scheduled,manual-repayments';
const MEMBERS = 12;
const LOCKED = 3;

let system: Pipeline;
let here: Dashboard;
let browser: Browser;
let members: StoredSubscription[];

beforeAll(async () => {
  [system, browser] = await Promise.all([pipeline(), openBrowser()]);
  here = await dashboard(system.environment);
  [members] = await Promise.all([system.members(MEMBERS), isReady(here)]);
});
afterAll(async () => {
  await browser.close();
  await here.close();
  await system.close();
});

/** In a window of its own. */
async function signedIn(role: keyof typeof TOKENS): Promise<Page> {
  const context = await browser.newContext();
  // The limit of the test ends what hangs.
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(here.url);
  await page.getByLabel('Name').fill(`${role}-name`);
  await page.getByLabel('Token').fill(TOKENS[role]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
  return page;
}

/** What is done to jobs in Bull Board. */
const ACTS = /^(retry|clean|pause|promote)/i;

/** What a script on a page complained of. */
const complaints: string[] = [];

interface Place {
  readonly left: number;
  readonly right: number;
  readonly height: number;
  readonly text: string;
}

/** As far as it is asked here: the tests are not compiled for browsers. */
interface Drawn {
  readonly textContent: string;
  getBoundingClientRect(): Omit<Place, 'text'>;
}

/** All at one moment: the page renews itself, and what was found before may be gone when it is measured. */
const placesOf = (found: Locator): Promise<Place[]> =>
  found.evaluateAll((elements: readonly Drawn[]) =>
    elements.map((element) => {
      const { left, right, height } = element.getBoundingClientRect();
      return { left, right, height, text: element.textContent };
    }),
  );

describe('in a browser', () => {
  it('an operator sees a run move, opens a member, charges and freezes', async () => {
    const page = await signedIn('operator');
    await page.getByText('No run today yet').waitFor();
    const queue = system.queues.get('collections-scheduled');
    await queue.pause();
    await system.worker({ env: { QUEUES } });
    const run = await system.start('scheduled');
    await page.getByText(`0 of ${MEMBERS} considered`).first().waitFor();
    const held = members.slice(0, LOCKED);
    for (const { userId } of held) await system.here.store.takeLock(userId);
    await queue.resume();
    await page
      .getByText(`${MEMBERS - LOCKED} of ${MEMBERS} considered`)
      .first()
      .waitFor();
    for (const { userId } of held) await system.here.store.releaseLock(userId);
    await queue.promoteJobs();
    await page.getByText('complete', { exact: true }).waitFor();
    expect((await system.over(run.runId)).report?.byVerdict.collected?.count).toBe(MEMBERS);
    await page.locator('.figures').getByText('$59.88').waitFor();
    expect(await page.locator('.figures dt').allTextContents()).toEqual(Object.values(OUTCOME_LABELS));

    await page.getByRole('link', { name: 'scheduled', exact: true }).click();
    await page.getByRole('link', { name: 'collected' }).click();
    await page.getByRole('rowheader').getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Right now' }).waitFor();
    await page.getByText('charged it').first().waitFor();

    const manual = system.queues.get('manual-repayments');
    await manual.pause();
    await page.getByRole('button', { name: 'Pay…' }).first().click();
    const charge = page.getByRole('button', { name: 'Charge $4.99' });
    await charge.waitFor();
    // A key that is pressed twice asks, and does not answer.
    await page.keyboard.press('Enter');
    await charge.click();
    await page.getByText('The payment is under way').waitFor();
    const paid = page.getByRole('row').filter({ has: page.locator('[aria-current]') });
    await paid.getByText('SCHEDULED').waitFor();
    await manual.resume();
    await page.getByText('The payment has ended: collected').waitFor();
    await paid.getByText('COMPLETED').waitFor();
    await page.getByText('operator-name asked for charged it').waitFor();

    await page.getByLabel('Reason, shown to other operators').fill('asked for a break');
    await page.getByRole('button', { name: 'Freeze member…' }).click();
    await page.getByRole('button', { name: 'Freeze', exact: true }).click();
    await page.getByText('asked for a break (operator-name)').waitFor();
    expect(complaints).toEqual([]);
  });

  it('a member’s page shows what happens meanwhile', async () => {
    const record = await system.here.member();
    const page = await signedIn('viewer');
    await page.goto(`${here.url}/users/${record.userId}`);
    await page.locator('.live[data-state="on"]').waitFor();
    expect(await page.getByText('COMPLETED').count()).toBe(0);
    expect(await system.here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
    await page.getByText('COMPLETED').first().waitFor();
    await page.getByText('charged it').first().waitFor();
  });

  it('a member whose lock is held and whose charge is open fits on the narrowest telephone', async () => {
    const record = await system.here.member();
    await system.here.faults([
      { id: 'lost', service: 'payments', fault: 'error-before', match: { user_id: record.userId } },
    ]);
    expect(await system.here.collect('INITIAL', record)).toMatchObject({ verdict: 'unknown' });
    await system.here.faults([]);
    const taken = await system.here.dependencies.locks.acquire(subscriptionLockKey(record.userId));
    const page = await signedIn('operator');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${here.url}/users/${record.userId}`);
    await page.getByText('somebody works on this member').waitFor();
    await page.getByText('no answer yet', { exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    for (const { right, text } of await placesOf(page.getByRole('navigation').getByRole('link')))
      expect(right, text).toBeLessThanOrEqual(360);
    if ('lock' in taken) await taken.lock.release();
  });

  it('on the narrowest telephone the day’s plot is seen with its axis, and nothing is scrolled for it', async () => {
    const page = await signedIn('viewer');
    await page.setViewportSize({ width: 360, height: 740 });
    const [plot, hidden] = [page.locator('.plot:visible'), page.locator('.plot:not(:visible)')];
    expect([await plot.count(), await hidden.count()]).toEqual([1, 1]);
    const labels = await placesOf(plot.locator('.axis'));
    expect(labels.length).toBeGreaterThan(0);
    for (const { left, right, height, text } of labels) {
      expect(left, text).toBeGreaterThanOrEqual(0);
      expect(right, text).toBeLessThanOrEqual(360);
      expect(height, text).toBeGreaterThan(8);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  it('an operator tries a failed job again in Bull Board', async () => {
    const connection = connectRedis({ url: system.redis.url, whenDown: 'wait', onError: () => undefined });
    let tries = 0;
    const worker = new Worker(
      'janitor',
      async () => {
        tries += 1;
        if (tries === 1) throw new Error('the first time it fails');
      },
      { connection, prefix: KEY_PREFIX },
    );
    try {
      const job = await system.queues.get('janitor').add('round', {}, { jobId: 'fails-once' });
      await eventually('it has failed', () => job.isFailed());
      const page = await signedIn('operator');
      await page.goto(`${here.url}/queues/queue/upkeep.janitor?status=failed`);
      await page.getByText('the first time it fails').first().waitFor();
      await page.getByRole('button', { name: /retry/i }).last().click();
      await page.getByRole('button', { name: /^confirm$/i }).click();
      await eventually('it is done', () => job.isCompleted());
      expect(tries).toBe(2);
      await page.goto(`${here.url}/queues/queue/upkeep.janitor?status=completed`);
      await page.getByText('round').first().waitFor();
      expect(await page.getByRole('button', { name: ACTS }).count()).toBeGreaterThan(0);
    } finally {
      await worker.close();
      connection.disconnect();
    }
  });

  it('a viewer may look, and is refused when acting', async () => {
    const page = await signedIn('viewer');
    await page.goto(`${here.url}/users/${members[0]!.userId}`);
    await page.getByRole('heading', { name: 'Right now' }).waitFor();
    expect(await page.getByRole('button').allTextContents()).toEqual(['Sign out']);
    await page.evaluate(`{
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: '/freezes' });
      document.body.append(form);
      form.submit();
    }`);
    await page.getByText('you may look, and not act').waitFor();
    await page.goto(`${here.url}/queues/queue/upkeep.janitor?status=completed`);
    await page.getByText('round').first().waitFor();
    expect(await page.getByRole('button', { name: ACTS }).count()).toBe(0);

    await page.goto(here.url);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(here.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
