import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';
import { installWithApt } from '../../src/embedded/apt.ts';
import { thisMachine } from '../../src/embedded/machine.ts';
import { isDebianLike } from '../../src/embedded/programs.ts';
import { MissingProgramError } from '../../src/errors.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

const found = (): string | undefined => NAMES.flatMap((name) => thisMachine.which(name))[0];

/** The browser of this machine; installed where that is safe to do unasked. */
async function browserProgram(): Promise<string> {
  const known = found();
  if (known !== undefined) return known;
  if (thisMachine.isRoot && isDebianLike(thisMachine.osRelease)) {
    thisMachine.say('Installing with apt: chromium');
    await installWithApt(thisMachine, ['browser']);
  }
  const installed = found();
  if (installed === undefined)
    throw new MissingProgramError('Missing: chromium. Tests look at the console in it');
  return installed;
}

/** Quiet: it calls nobody on the internet by itself. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

export const openBrowser = async (): Promise<Browser> =>
  chromium.launch({ executablePath: await browserProgram(), headless: true, args: FLAGS });
