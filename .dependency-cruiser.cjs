/* Which room may import from which. The rule's name is what a developer sees when it breaks. */
const only = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    only(
      'no-cycles',
      'Two files that need each other are one idea, or miss a third.',
      {},
      { circular: true },
    ),
    only(
      'domain-is-pure',
      'src/domain knows nothing but itself and pure libraries.',
      { path: '^src/domain/' },
      {
        path: '^(src/(?!domain/)|queues/|workers/|dashboard/|@aws-sdk|bullmq|ioredis|express|pino|node:(?!crypto))',
      },
    ),
    only(
      'ports-know-the-domain-only',
      'A port is an interface in the domain words.',
      { path: '^src/ports/' },
      { path: '^(src/(?!(domain/|ports/|errors\\.ts))|queues/|workers/|dashboard/|node_modules/)' },
    ),
    only(
      'app-speaks-through-ports',
      'src/app imports domain and ports; adapters are handed in.',
      { path: '^src/app/' },
      {
        path: '^(src/(?!(domain/|ports/|app/|errors\\.ts))|queues/|workers/|dashboard/|node_modules/@aws-sdk|node_modules/(bullmq|ioredis|express))',
      },
    ),
    only(
      'only-adapters-import-the-aws-sdk',
      'Everything else goes through a port. The sandbox bank publishes its own callbacks.',
      { path: '^(src|queues|workers|dashboard)/', pathNot: '^src/(adapters|sandbox)/' },
      { path: 'node_modules/@(aws-sdk|smithy)/' },
    ),
    only(
      'only-queues-workers-dashboard-import-bullmq',
      'Billing knows nothing of BullMQ.',
      { path: '^src/' },
      { path: 'node_modules/(bullmq|@bull-board)/' },
    ),
    only(
      'queues-hold-contracts',
      'queues/ never imports workers/ or the application.',
      { path: '^queues/' },
      { path: '^(workers|dashboard|src/(app|adapters|api|sandbox|embedded|cli))/' },
    ),
    only(
      'nobody-reaches-into-workers-or-dashboard',
      'They are entry points.',
      { path: '^(src/(?!cli/)|queues/)' },
      { path: '^(workers|dashboard)/' },
    ),
    only(
      'the-sandbox-shares-no-code-with-the-rules',
      'A pretend bank that used our rules would agree with our bugs.',
      { path: '^src/sandbox/' },
      { path: '^(src/(?!sandbox/)|queues/|workers/|dashboard/)' },
    ),
    only(
      'the-audit-shares-no-code-with-what-it-checks',
      'A checker that used the rules would agree with their bugs.',
      { path: '^src/audit/' },
      { path: '^(src/(?!audit/)|queues/|workers/|dashboard/)' },
    ),
    only(
      'nobody-imports-bench',
      'It measures the others; nothing may come to need it.',
      { path: '^(src|queues|workers|dashboard)/' },
      { path: '^bench/' },
    ),
    only(
      'no-production-code-imports-tests',
      '',
      { path: '^(src|queues|workers|dashboard)/' },
      { path: '^test/' },
    ),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
