import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ICruiseOptions, ICruiseResult } from 'dependency-cruiser';
import { cruise } from 'dependency-cruiser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUEUE_NAMES } from '../queues/queue-names.ts';
import { temporaryFolder } from './support/stack.ts';

const root = new URL('..', import.meta.url).pathname;
const rules = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as {
  forbidden: NonNullable<ICruiseOptions['ruleSet']>['forbidden'];
  options: ICruiseOptions;
};
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '');
const sources = files.filter((file) => /^(src|queues|workers|dashboard)\/.*\.ts$/.test(file));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

async function violations(baseDir: string): Promise<string[]> {
  const options: ICruiseOptions = {
    ...rules.options,
    baseDir,
    ruleSet: { forbidden: rules.forbidden ?? [] },
    validate: true,
    // The compiler's configuration is this project's, wherever the files lie.
    tsConfig: { fileName: join(root, 'tsconfig.json') },
  };
  const { output } = await cruise(['src', 'queues', 'workers', 'dashboard', 'bench'], options);
  return (output as ICruiseResult).summary.violations.map(
    ({ rule, from, to }) => `${rule.name}: ${from} → ${to}`,
  );
}

describe('imports', () => {
  it('go in the direction that the rooms allow, and in no circle', async () => {
    expect(await violations(root)).toEqual([]);
  }, 60_000);

  describe('when somebody imports the wrong way', () => {
    let folder: { path: string; remove: () => Promise<void> };
    beforeAll(async () => {
      folder = await temporaryFolder();
    });
    afterAll(() => folder.remove());

    const planted: Record<string, [file: string, imports: string]> = {
      'domain-is-pure': ['src/domain/a.ts', '../adapters/x.ts'],
      'ports-know-the-domain-only': ['src/ports/a.ts', '../adapters/x.ts'],
      'app-speaks-through-ports': ['src/app/a.ts', '../adapters/x.ts'],
      'queues-hold-contracts': ['queues/a.ts', '../workers/x.ts'],
      'nobody-reaches-into-workers-or-dashboard': ['src/api/a.ts', '../../workers/x.ts'],
      'the-sandbox-shares-no-code-with-the-rules': ['src/sandbox/a.ts', '../domain/x.ts'],
      'the-audit-shares-no-code-with-what-it-checks': ['src/audit/a.ts', '../domain/x.ts'],
      'nobody-imports-bench': ['src/cli/a.ts', '../../bench/x.ts'],
      'no-cycles': ['src/adapters/x.ts', './y.ts'],
    };

    it('names each rule that was broken', async () => {
      const write = (file: string, text: string): void => {
        mkdirSync(dirname(join(folder.path, file)), { recursive: true });
        writeFileSync(join(folder.path, file), text);
      };
      for (const room of ['src/domain', 'workers', 'dashboard', 'bench'])
        write(`${room}/x.ts`, 'export const x = 1;\n');
      write('src/adapters/y.ts', "import './x.ts';\nexport const y = 1;\n");
      for (const [file, imports] of Object.values(planted))
        write(file, `import '${imports}';\nexport const x = 1;\n`);

      const found = await violations(folder.path);
      for (const [rule, [file]] of Object.entries(planted)) {
        expect(found.some((line) => line.startsWith(`${rule}: `) && line.includes(file))).toBe(true);
      }
    }, 60_000);
  });

  it('use BatchWriteItem, which knows no conditions, where writing the same again is harmless', () => {
    const users = sources.filter((file) => read(file).includes('BatchWriteItem'));
    expect(users).toEqual(['src/adapters/dynamodb/batch-writer.ts', 'src/adapters/dynamodb/seeder.ts']);
  });
});

describe('source', () => {
  it('has no unfinished places', () => {
    const unfinished = sources.filter((file) => /\b(TODO|FIXME|XXX)\b|not implemented/.test(read(file)));
    expect(unfinished).toEqual([]);
  });

  it('names no path of one machine', () => {
    const quoted = /["'`]\/(work|root|home|tmp)\//;
    const named = files.filter((file) => /\.(ts|js|cjs|json|yml)$/.test(file) && quoted.test(read(file)));
    expect(named).toEqual([]);
  });

  it('has a page for every room that says what it owns', () => {
    const rooms = [
      'queues',
      'workers',
      'dashboard',
      'src/embedded',
      'src/sandbox',
      'src/adapters/lock',
      'src/audit',
      'bench',
    ];
    for (const room of rooms) expect(read(`${room}/README.md`)).toMatch(/\bown/i);
  });
});

describe('documents', () => {
  it('docs/errors.md explains every error that code decides on, by its code', () => {
    const codes = [...read('src/errors.ts').matchAll(/readonly code = '([a-z-]+)'/g)].map(([, code]) => code);
    const documented = [...read('docs/errors.md').matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, code]) => code);
    expect(documented.sort()).toEqual(codes.sort());
  });

  it('docs/dependencies.md gives a reason for every package', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
      string,
      Record<string, string>
    >;
    const named = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual([...Object.keys(dependencies!), ...Object.keys(devDependencies!)].sort());
  });

  it('README.md names only scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...read('README.md').matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name]) => name!);
    const known = new Set([...Object.keys(scripts), 'ci', 'run']);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('decision records are numbered without a gap and say what was decided', () => {
    const records = files.filter((file) => file.startsWith('docs/decisions/')).sort();
    records.forEach((file, i) => {
      expect(file).toMatch(new RegExp(`^docs/decisions/${String(i + 1).padStart(4, '0')}-[a-z0-9-]+\\.md$`));
      expect(read(file)).toMatch(/^# \d+\. .+[\s\S]*## Decision[\s\S]*## Why/);
    });
    expect(records.length).toBeGreaterThan(0);
  });
});

it('the queues have the names that people see', () => {
  expect([...QUEUE_NAMES].sort()).toEqual(
    [
      'collection-pages',
      'collections-scheduled',
      'collections-retry',
      'collections-pause',
      'collections-webhook',
      'collections-webhook-balance',
      'collections-batch',
      'manual-repayments',
      'membership-events',
      'ach-events',
      'notifications',
      'janitor',
    ].sort(),
  );
});
