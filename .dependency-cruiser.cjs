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
    // Packages and built-ins are met by what they resolve to: `node_modules/pino/…`, and `fs` for `node:fs`.
    only(
      'domain-is-pure',
      'src/domain knows nothing but itself, and uuid, which computes and touches nothing.',
      { path: '^src/domain/' },
      { path: '^(src/(?!domain/)|queues/|workers/|dashboard/|node_modules/(?!uuid/))' },
    ),
    only(
      'domain-touches-no-machine',
      'Of what Node brings along, src/domain may hash. Files, clocks and the network are behind ports.',
      { path: '^src/domain/' },
      { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
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
        path: '^(src/(?!(domain/|ports/|app/|(errors|in-words)\\.ts))|queues/|workers/|dashboard/|node_modules/@aws-sdk|node_modules/(bullmq|ioredis|express))',
      },
    ),
    only(
      'adapters-serve-ports',
      'An adapter knows the port it stands behind (the audit has its own) and its configuration, never who uses it.',
      { path: '^src/adapters/' },
      {
        path: '^(src/(?!(domain/|ports/|adapters/|audit/|config/|(errors|in-words)\\.ts))|queues/|workers/|dashboard/)',
      },
    ),
    only(
      'api-speaks-to-the-application',
      'What answers a request knows the application; which store and queue stand behind it is said where the API starts.',
      { path: '^src/api/', pathNot: '^src/api/(start-api|main)\\.ts$' },
      {
        path: '^(src/(?!(api/|app/|domain/|ports/|figures/|(errors|in-words)\\.ts))|queues/|workers/|dashboard/)',
      },
    ),
    only(
      'api-starts-from-the-wiring',
      'The start of the API puts its parts together, as a worker does; it needs no other entry point for that.',
      { path: '^src/api/(start-api|main)\\.ts$' },
      {
        path: '^(src/(?!(api/|app/|domain/|ports/|figures/|adapters/|wiring/|config/|(errors|in-words)\\.ts))|workers/|dashboard/)',
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
      'A job is written in the words of the domain and the ports, so that whoever reads it needs nothing else.',
      { path: '^queues/' },
      { path: '^(workers|dashboard|src/(?!(domain|ports)/))' },
    ),
    only(
      'nobody-reaches-into-workers-or-dashboard',
      'They are entry points.',
      { path: '^(src/(?!cli/)|queues/)' },
      { path: '^(workers|dashboard)/' },
    ),
    only(
      'workers-do-not-show',
      'What operators see may come and go without those who collect.',
      { path: '^workers/' },
      { path: '^dashboard/' },
    ),
    only(
      'embedded-stands-alone',
      'The local servers are for whoever needs some, tests first; they know nothing of what will run on them.',
      { path: '^src/embedded/' },
      { path: '^(src/(?!(embedded/|errors\\.ts))|queues/|workers/|dashboard/)' },
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
      { path: '^(src|queues|workers|dashboard|chaos)/' },
      { path: '^bench/' },
    ),
    only(
      'no-production-code-imports-the-simulation',
      'It runs production code; nothing that ships may run it.',
      { path: '^(src|queues|workers|dashboard)/' },
      { path: '^sim/' },
    ),
    only(
      'the-simulated-store-stands-alone',
      'A store that used our code would agree with our bugs. It knows the SDK whose commands it answers, and no more.',
      { path: '^sim/dynamodb/' },
      { path: '^(src|queues|workers|dashboard|bench|test|sim/(?!dynamodb/))' },
    ),
    only(
      'the-oracle-shares-no-code-with-what-it-watches',
      'It may use the audit, which shares none either.',
      { path: '^sim/oracle/' },
      { path: '^(src/(?!audit/)|queues|workers|dashboard|bench|test|sim/(?!oracle/))' },
    ),
    only(
      'nobody-imports-docs',
      'It draws the others; nothing may come to need it.',
      { path: '^(src|queues|workers|dashboard|bench|sim)/' },
      { path: '^docs/' },
    ),
    only(
      'nobody-imports-year',
      'It shows what the others can do; nothing may come to need it.',
      { path: '^(src|queues|workers|dashboard|bench)/' },
      { path: '^year/' },
    ),
    only(
      'nobody-imports-chaos',
      'It strikes the others; nothing may come to need it.',
      { path: '^(src|queues|workers|dashboard|bench)/' },
      { path: '^chaos/' },
    ),
    only(
      'chaos-judges-by-itself',
      'A check that used the rules, or the audit, would agree with their bugs.',
      { path: '^chaos/(checks|book|tables|timetable)\\.ts$' },
      { path: '^(src|queues|workers|dashboard|bench)/' },
    ),
    only(
      'no-production-code-imports-tests',
      'Tests are not shipped.',
      { path: '^(src|queues|workers|dashboard|chaos)/' },
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
