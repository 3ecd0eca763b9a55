import { expect, it } from 'vitest';
import { lineOf } from '../../../bench/report.ts';

const machine = {
  cores: 2,
  cpu: 'Some CPU',
  memory_gb: 23.5,
  node: '20.20.2',
  redis: 'Redis 7.0.15',
  java: '17.0.15',
  dynamodb_local: '10.3.0',
  load_before: 0.4,
};

it('the line for machines has the figures by their names, and beside them what the page is drawn from', () => {
  const about = { machine, command: 'npm run bench', measuredAt: '2026-11-17T17:57Z' };
  const steps = [{ step: 'charge', ms: 1.3 }];
  const writeUnits = [{ table: 'locks', units: 6 }];
  const line = lineOf({ ...about, figures: { pipeline_to_floor: 0.95612 }, steps, writeUnits });
  expect(JSON.parse(line)).toEqual({
    pipeline_to_floor: 0.956,
    measured_at: '2026-11-17T17:57Z',
    write_units: [{ table: 'locks', units: 6 }],
    steps,
    machine,
    command: 'npm run bench',
  });
});
