import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ICruiseOptions, ICruiseResult } from 'dependency-cruiser';
import { cruise } from 'dependency-cruiser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUEUE_NAMES } from '../queues/queue-names.ts';
import { createMetrics } from '../src/adapters/metrics/prometheus.ts';
import { PROBLEMS } from '../src/api/problems.ts';
import { temporaryFolder } from './support/stack.ts';

const root = new URL('..', import.meta.url).pathname;
const rules = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as {
  forbidden: NonNullable<ICruiseOptions['ruleSet']>['forbidden'];
  options: ICruiseOptions;
};
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '');
const sources = files.filter((file) => /^(src|queues|workers|dashboard|chaos)\/.*\.ts$/.test(file));
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
  const { output } = await cruise(
    ['src', 'queues', 'workers', 'dashboard', 'bench', 'sim', 'docs', 'year', 'chaos'],
    options,
  );
  return (output as ICruiseResult).summary.violations.map(
    ({ rule, from, to }) => `${rule.name}: ${from} → ${to}`,
  );
}

describe('imports', () => {
  it('go in the direction that the rooms allow, and in no circle', async () => {
    expect(await violations(root)).toEqual([]);
  });

  describe('when somebody imports the wrong way', () => {
    let folder: { path: string; remove: () => Promise<void> };
    beforeAll(async () => {
      folder = await temporaryFolder();
    });
    afterAll(() => folder.remove());

    const planted: [rule: string, file: string, imports: string, resolved: string][] = [
      ['no-cycles', 'src/adapters/x.ts', './y.ts', 'src/adapters/y.ts'],
      ['domain-is-pure', 'src/domain/outside.ts', '../adapters/x.ts', 'src/adapters/x.ts'],
      ['domain-is-pure', 'src/domain/package.ts', 'pino', 'node_modules/pino/'],
      ['domain-touches-no-machine', 'src/domain/built-in.ts', 'node:fs', 'fs'],
      ['ports-know-the-domain-only', 'src/ports/a.ts', '../adapters/x.ts', 'src/adapters/x.ts'],
      ['app-speaks-through-ports', 'src/app/a.ts', '../adapters/x.ts', 'src/adapters/x.ts'],
      ['adapters-serve-ports', 'src/adapters/a.ts', '../app/a.ts', 'src/app/a.ts'],
      ['adapters-serve-ports', 'src/adapters/b.ts', '../../queues/x.ts', 'queues/x.ts'],
      ['api-speaks-to-the-application', 'src/api/a.ts', '../adapters/x.ts', 'src/adapters/x.ts'],
      ['api-speaks-to-the-application', 'src/api/routes/a.ts', '../../../queues/x.ts', 'queues/x.ts'],
      ['api-starts-from-the-wiring', 'src/api/start-api.ts', '../cli/a.ts', 'src/cli/a.ts'],
      [
        'only-adapters-import-the-aws-sdk',
        'src/app/b.ts',
        '@aws-sdk/client-kinesis',
        'node_modules/@aws-sdk/',
      ],
      ['only-adapters-import-the-aws-sdk', 'workers/a.ts', '@smithy/signature-v4', 'node_modules/@smithy/'],
      ['only-queues-workers-dashboard-import-bullmq', 'src/wiring/a.ts', 'bullmq', 'node_modules/bullmq/'],
      ['queues-hold-contracts', 'queues/a.ts', '../workers/x.ts', 'workers/x.ts'],
      ['queues-hold-contracts', 'queues/b.ts', '../src/wiring/a.ts', 'src/wiring/a.ts'],
      ['nobody-reaches-into-workers-or-dashboard', 'src/api/b.ts', '../../workers/x.ts', 'workers/x.ts'],
      ['workers-do-not-show', 'workers/b.ts', '../dashboard/x.ts', 'dashboard/x.ts'],
      ['embedded-stands-alone', 'src/embedded/a.ts', '../domain/x.ts', 'src/domain/x.ts'],
      ['the-sandbox-shares-no-code-with-the-rules', 'src/sandbox/a.ts', '../domain/x.ts', 'src/domain/x.ts'],
      ['the-audit-shares-no-code-with-what-it-checks', 'src/audit/a.ts', '../domain/x.ts', 'src/domain/x.ts'],
      ['nobody-imports-bench', 'src/cli/a.ts', '../../bench/x.ts', 'bench/x.ts'],
      ['no-production-code-imports-the-simulation', 'workers/c.ts', '../sim/x.ts', 'sim/x.ts'],
      ['the-simulated-store-stands-alone', 'sim/dynamodb/a.ts', '../../src/domain/x.ts', 'src/domain/x.ts'],
      ['the-simulated-store-stands-alone', 'sim/dynamodb/b.ts', '../x.ts', 'sim/x.ts'],
      [
        'the-oracle-shares-no-code-with-what-it-watches',
        'sim/oracle/a.ts',
        '../../src/domain/x.ts',
        'src/domain/x.ts',
      ],
      ['the-oracle-shares-no-code-with-what-it-watches', 'sim/oracle/b.ts', '../x.ts', 'sim/x.ts'],
      ['nobody-imports-docs', 'src/cli/c.ts', '../../docs/x.ts', 'docs/x.ts'],
      ['nobody-imports-year', 'dashboard/a.ts', '../year/x.ts', 'year/x.ts'],
      ['nobody-imports-chaos', 'src/cli/d.ts', '../../chaos/x.ts', 'chaos/x.ts'],
      ['chaos-judges-by-itself', 'chaos/checks.ts', '../src/domain/x.ts', 'src/domain/x.ts'],
      ['no-production-code-imports-tests', 'src/cli/b.ts', '../../test/x.ts', 'test/x.ts'],
    ];
    /** What stands next to what is forbidden. */
    const allowed: [file: string, imports: string][] = [
      ['src/domain/x.ts', 'uuid'],
      ['src/domain/hash.ts', 'node:crypto'],
      ['src/adapters/store.ts', '@aws-sdk/client-kinesis'],
      ['src/api/main.ts', '../adapters/x.ts'],
      ['workers/x.ts', 'bullmq'],
      ['queues/x.ts', '../src/domain/x.ts'],
      ['dashboard/x.ts', 'bullmq'],
      ['bench/x.ts', '../src/domain/x.ts'],
      ['sim/x.ts', '../src/domain/x.ts'],
      ['sim/oracle/c.ts', '../../src/audit/x.ts'],
      ['sim/dynamodb/c.ts', '@aws-sdk/client-kinesis'],
      ['docs/x.ts', '../src/domain/x.ts'],
      ['year/x.ts', '../dashboard/x.ts'],
      ['chaos/x.ts', '../src/domain/x.ts'],
      ['test/x.ts', '../src/domain/x.ts'],
    ];
    const packages = ['pino', 'uuid', 'bullmq', '@aws-sdk/client-kinesis', '@smithy/signature-v4'];

    function write(file: string, text: string): void {
      mkdirSync(dirname(join(folder.path, file)), { recursive: true });
      writeFileSync(join(folder.path, file), text);
    }

    it('names each rule that was broken, and only those', async () => {
      for (const name of packages) write(`node_modules/${name}/index.js`, 'export default 1;\n');
      for (const [file, imports] of [...planted.map(([, ...rest]) => rest), ...allowed])
        write(file, `import '${imports}';\nexport const x = 1;\n`);
      write('src/adapters/y.ts', "import './x.ts';\nexport const y = 1;\n");

      const found = await violations(folder.path);
      for (const [rule, file, , resolved] of planted)
        expect(found).toContainEqual(expect.stringContaining(`${rule}: ${file} → ${resolved}`));
      const innocent = allowed.map(([file]) => `: ${file} → `);
      expect(found.filter((line) => innocent.some((from) => line.includes(from)))).toEqual([]);
    });

    it('so that each rule is seen to strike', () => {
      const names = (rules.forbidden ?? []).map(({ name }) => name);
      expect([...new Set(planted.map(([rule]) => rule))].sort()).toEqual(names.sort());
    });
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
      'src/api',
      'bench',
      'sim',
      'sim/dynamodb',
      'docs/generate',
      'year',
      'chaos',
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

  it('docs/errors.md tells what to do about every problem that the API answers', () => {
    const documented = [...read('docs/errors.md').matchAll(/^\| (\d{3}) +\| `([a-z-]+)` +\|/gm)];
    const problems = Object.entries(PROBLEMS).map(([code, { status }]) => [String(status), code]);
    expect(documented.map(([, status, code]) => [status, code]).sort()).toEqual(problems.sort());
  });

  it('docs/metrics.md has every metric, and no other', async () => {
    const registered = [...(await createMetrics().text()).matchAll(/^# TYPE (collections_\w+) /gm)];
    const documented = [...read('docs/metrics.md').matchAll(/^\| `(collections_\w+)` +\|/gm)];
    expect(documented.map(([, name]) => name).sort()).toEqual(registered.map(([, name]) => name).sort());
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
    const records = files.filter((file) => /^docs\/decisions\/(?!README)/.test(file)).sort();
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
      'float-collections',
      'float-pages',
      'recurring-pages',
      'recurring-payments',
      'recurring-reminders',
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
      'gateway-events',
      'notifications',
      'janitor',
    ].sort(),
  );
});
