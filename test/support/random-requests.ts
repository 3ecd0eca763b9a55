import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';

/** A request to DynamoDB: the command's name without `Command`, and its input. */
export interface RawRequest {
  readonly operation: string;
  readonly input: Record<string, unknown>;
}

type Item = Record<string, AttributeValue>;
type Input = Record<string, unknown>;

/** Few names and few values, so that requests meet each other's items, and expressions what they speak of. */
const NAMES = ['a', 'b', 'm', 'l', 's', 'constructor'];
const TEXTS = ['', 'x', 'xy', 'y', 'é', '\uffee', '😀'];
const NUMBERS = [
  '0',
  '1',
  '-1',
  '1.5',
  '1000',
  '0.00001',
  '9007199254740992',
  '9007199254740993',
  '-0.00000025',
];
const bytes = (...all: number[]): Uint8Array => Uint8Array.from(all);
const SCALARS: AttributeValue[] = [
  ...TEXTS.map((S) => ({ S })),
  ...NUMBERS.map((N) => ({ N })),
  { N: '99999999999999999999999999999999999999' },
  { BOOL: true },
  { BOOL: false },
  { NULL: true },
  { B: bytes(1, 2) },
  { B: bytes(1, 2, 255) },
  { SS: ['x', 'y'] },
  { SS: ['y', 'é'] },
  { NS: ['1', '2'] },
  { NS: ['2', '30'] },
  { BS: [bytes(1, 2)] },
];
const VALUES: AttributeValue[] = [
  ...SCALARS,
  { S: 'S' },
  { S: 'N' },
  { S: 'L' },
  { L: [] },
  { L: [{ N: '1' }, { S: 'x' }, { M: { a: { S: 'y' } } }] },
  { M: {} },
  { M: { a: { N: '5' }, b: { L: [{ S: 'x' }, { NULL: true }] } } },
];

const indexOf = (type: 'S' | 'N', text: string): number => VALUES.findIndex((each) => each[type] === text);

const oneOf = <T>(...choices: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...choices);
const sometimes = (name: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Input> =>
  fc.option(value, { nil: null }).map((given) => (given === null ? {} : { [name]: given }));

// ── expressions: a text says which of the names and values above it needs ──────────────────────────────────────────

const boundName = oneOf(...NAMES).chain((name) =>
  oneOf(name === 'constructor' ? '#constructor' : name, `#${name}`),
);
const path = fc.oneof(
  { weight: 5, arbitrary: boundName },
  {
    weight: 1,
    arbitrary: fc.tuple(boundName, oneOf('.a', '.#b', '[0]', '[1]', '[7]')).map((all) => all.join('')),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(oneOf('m', '#l'), oneOf('.b[0]', '[2].a', '.b[1]', '.a.b'))
      .map((all) => all.join('')),
  },
);
const value = fc.nat(VALUES.length - 1).map((i) => `:v${i}`);
/** Mostly of these types, sometimes of any. */
const valueOf = (...types: string[]): fc.Arbitrary<string> => {
  const fitting = VALUES.flatMap((each, i) => (types.some((type) => type in each) ? [`:v${i}`] : []));
  return fc.oneof({ weight: 15, arbitrary: oneOf(...fitting) }, { weight: 1, arbitrary: value });
};
const ordered = fc.oneof({ weight: 3, arbitrary: valueOf('S', 'N', 'B') }, { weight: 1, arbitrary: path });
const operand = fc.oneof(
  { weight: 3, arbitrary: path },
  { weight: 4, arbitrary: value },
  { weight: 1, arbitrary: path.map((of) => `size(${of})`) },
);
const BOUNDS = [
  `BETWEEN :v${indexOf('N', '0')} AND :v${indexOf('N', '1000')}`,
  `BETWEEN :v${indexOf('S', 'x')} AND :v${indexOf('S', 'é')}`,
];
const relation = fc.oneof(
  fc.tuple(operand, oneOf('=', '<>'), operand).map((all) => all.join(' ')),
  fc.tuple(operand, oneOf('<', '<=', '>', '>='), ordered).map((all) => all.join(' ')),
  fc.tuple(path, oneOf(...BOUNDS)).map((all) => all.join(' ')),
  fc.tuple(path, ordered, ordered).map(([of, low, high]) => `${of} BETWEEN ${low} AND ${high}`),
  fc
    .tuple(path, fc.array(operand, { minLength: 1, maxLength: 3 }))
    .map(([of, all]) => `${of} IN (${all.join(', ')})`),
  fc.tuple(oneOf('attribute_exists', 'attribute_not_exists'), path).map(([name, of]) => `${name}(${of})`),
  fc
    .tuple(oneOf('attribute_type', 'begins_with', 'contains'), path, fc.oneof(valueOf('S'), operand))
    .map(([name, of, what]) => `${name}(${of}, ${what})`),
);
const condition = fc.oneof(
  { weight: 3, arbitrary: relation },
  { weight: 1, arbitrary: relation.map((what) => `NOT ${what}`) },
  { weight: 2, arbitrary: fc.tuple(relation, oneOf('AND', 'or'), relation).map((all) => all.join(' ')) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(relation, oneOf('AND', 'OR'), relation, oneOf('AND', 'OR'), relation)
      .map(([a, one, b, other, c]) => `${a} ${one} (${b} ${other} ${c})`),
  },
);

const setOperand = fc.oneof(
  { weight: 3, arbitrary: value },
  { weight: 2, arbitrary: path },
  { weight: 1, arbitrary: fc.tuple(path, value).map(([of, or]) => `if_not_exists(${of}, ${or})`) },
  {
    weight: 1,
    arbitrary: fc.tuple(path, valueOf('L')).map(([one, other]) => `list_append(${one}, ${other})`),
  },
);
const assignment = fc.oneof(
  fc.tuple(path, setOperand).map(([of, to]) => `${of} = ${to}`),
  fc
    .tuple(path, fc.oneof(path, valueOf('N')), oneOf('+', '-'), valueOf('N'))
    .map(([of, ...sum]) => `${of} = ${sum.join(' ')}`),
  fc.tuple(path, setOperand, oneOf('+', '-'), setOperand).map(([of, ...sum]) => `${of} = ${sum.join(' ')}`),
);
const clause = (keyword: string, action: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(action, { minLength: 1, maxLength: 2 }).map((actions) => `${keyword} ${actions.join(', ')}`);
const withSet = fc.tuple(path, valueOf('SS', 'NS', 'BS')).map((all) => all.join(' '));
const withNumber = fc.tuple(path, valueOf('N')).map((all) => all.join(' '));
const update = fc
  .uniqueArray(
    fc.oneof(
      { weight: 4, arbitrary: clause('SET', assignment) },
      { weight: 2, arbitrary: clause('REMOVE', path) },
      { weight: 2, arbitrary: clause('ADD', fc.oneof(withNumber, withSet)) },
      { weight: 1, arbitrary: clause('delete', withSet) },
    ),
    { minLength: 1, maxLength: 2, selector: (text) => text.split(' ')[0] },
  )
  .map((clauses) => clauses.join(' '));
const projection = fc.array(path, { minLength: 1, maxLength: 3 }).map((paths) => paths.join(', '));

/** What the texts of a request speak of. Now and then one is missing, or one too many is there. */
function bound(input: Input, slip: number): Input {
  const text = Object.entries(input)
    .filter(([name]) => name.endsWith('Expression'))
    .map(([, expression]) => expression as string)
    .join(' ');
  const names = [...text.matchAll(/#(\w+)/g)].map(([key, name]): [string, string] => [key, name!]);
  const values = [...text.matchAll(/:v(\d+)/g)].map(([key, i]): [string, unknown] => [
    key,
    VALUES[Number(i)],
  ]);
  if (slip === 1) names.pop();
  if (slip === 2) values.push([':unused', { S: 'x' }]);
  return {
    ...(names.length === 0 ? {} : { ExpressionAttributeNames: Object.fromEntries(names) }),
    ...(values.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(values) }),
  };
}

const withBindings = (input: fc.Arbitrary<Input>): fc.Arbitrary<Input> =>
  fc.tuple(input, fc.integer({ min: 0, max: 60 })).map(([all, slip]) => ({ ...bound(all, slip), ...all }));

// ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────────

const attributes: fc.Arbitrary<Item> = fc.dictionary(oneOf(...NAMES), oneOf(...VALUES), { maxKeys: 5 });

/** The table's key is `pk` (text) and `sk` (number); `byOwner` is an index by `owner` (text) and `since` (number). */
export function randomRequests(TableName: string, partitions: readonly string[]): fc.Arbitrary<RawRequest[]> {
  const goodKey = fc
    .tuple(oneOf(...partitions), oneOf('1', '2.0', '-3'))
    .map(([pk, N]): Item => ({ pk: { S: pk }, sk: { N } }));
  const key = fc.oneof(
    { weight: 40, arbitrary: goodKey },
    { weight: 1, arbitrary: oneOf<Item>({ pk: { S: partitions[0]! } }, { pk: { S: '' }, sk: { N: '1' } }) },
    { weight: 1, arbitrary: oneOf<Item>({ pk: { S: partitions[0]! }, sk: { S: '1' } }) },
  );
  const ofIndex = fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record(
        {
          owner: oneOf(...partitions).map((S) => ({ S })),
          since: oneOf('1', '9007199254740993').map((N) => ({ N })),
        },
        { requiredKeys: [] },
      ),
    },
    {
      weight: 1,
      arbitrary: oneOf<Item>({ owner: { S: '' } }, { owner: { N: '1' } }, { since: { NULL: true } }),
    },
  );
  const item = fc.tuple(attributes, ofIndex, key).map((parts): Item => Object.assign({}, ...parts) as Item);
  const conditional = fc
    .tuple(
      sometimes('ConditionExpression', condition),
      sometimes('ReturnValuesOnConditionCheckFailure', oneOf('ALL_OLD', 'NONE')),
    )
    .map(([one, other]) => ({ ...one, ...other }));
  const about = (...parts: fc.Arbitrary<Input>[]): fc.Arbitrary<Input> =>
    withBindings(fc.tuple(...parts).map((all) => Object.assign({ TableName }, ...all) as Input));
  const returnValues = (...choices: string[]): fc.Arbitrary<Input> =>
    sometimes('ReturnValues', oneOf(...choices));
  const keyed = key.map((Key) => ({ Key }));

  const put = about(
    item.map((Item) => ({ Item })),
    conditional,
  );
  const updating = about(
    keyed,
    update.map((UpdateExpression) => ({ UpdateExpression })),
    conditional,
  );
  const deleting = about(keyed, conditional);
  const checking = about(
    keyed,
    condition.map((ConditionExpression) => ({ ConditionExpression })),
  );
  const projected = sometimes('ProjectionExpression', projection);
  const getting = (what: fc.Arbitrary<Item>): fc.Arbitrary<Input> =>
    fc.tuple(what, projected).map(([Key, also]) => ({ TableName, Key, ...also, ...bound(also, 0) }));

  const keyCondition = oneOf(
    ...['', '', ' AND sk = :k', ' AND sk <= :k', ' AND sk < :k', ' AND sk > :k', ' AND sk >= :k'],
    ...[
      ' AND sk BETWEEN :k AND :to',
      ' AND sk <> :k',
      ' AND begins_with(sk, :k)',
      ' AND a = :k',
      ' OR sk = :k',
    ],
  );
  const query = fc
    .tuple(
      oneOf(...partitions),
      keyCondition,
      oneOf('1', '2', '-3'),
      fc
        .tuple(
          sometimes('FilterExpression', condition),
          sometimes('ProjectionExpression', projection),
          sometimes('Limit', oneOf(1, 2, 3)),
          sometimes('ScanIndexForward', fc.boolean()),
          sometimes('ConsistentRead', fc.boolean()),
        )
        .map((parts): Input => Object.assign({}, ...parts) as Input),
    )
    .map(([pk, rest, k, options]): Input => {
      const { ExpressionAttributeValues: values, ...names } = bound(options, 0);
      const ofKey = { ':pk': { S: pk }, ...(rest.includes(':k') ? { ':k': { N: k } } : {}) };
      return {
        TableName,
        KeyConditionExpression: `pk = :pk${rest}`,
        ...options,
        ...names,
        ExpressionAttributeValues: {
          ...(values as Item | undefined),
          ...ofKey,
          ...(rest.includes(':to') ? { ':to': { N: '2' } } : {}),
        },
      };
    });
  const indexQuery = fc
    .tuple(oneOf(...partitions), oneOf('', ' AND since >= :k'), sometimes('FilterExpression', condition))
    .map(([owner, rest, options]): Input => {
      const { ExpressionAttributeValues: values, ...names } = bound(options, 0);
      const ofKey = { ':owner': { S: owner }, ...(rest === '' ? {} : { ':k': { N: '9007199254740993' } }) };
      return {
        TableName,
        IndexName: 'byOwner',
        KeyConditionExpression: `#o = :owner${rest}`,
        ...options,
        ExpressionAttributeNames: {
          ...(names['ExpressionAttributeNames'] as object | undefined),
          '#o': 'owner',
        },
        ExpressionAttributeValues: { ...(values as Item | undefined), ...ofKey },
      };
    });

  const write = fc.oneof(
    put.map((Put) => ({ Put })),
    updating.map((Update) => ({ Update })),
    deleting.map((Delete) => ({ Delete })),
    checking.map((ConditionCheck) => ({ ConditionCheck })),
  );
  const request = (operation: string, input: fc.Arbitrary<Input>): fc.Arbitrary<RawRequest> =>
    input.map((all) => ({ operation, input: all }));
  const several = <T>(what: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
    fc.array(what, { minLength: 1, maxLength: 3 });

  return fc.array(
    fc.oneof(
      { weight: 6, arbitrary: request('PutItem', join(put, returnValues('NONE', 'ALL_OLD'))) },
      {
        weight: 8,
        arbitrary: request(
          'UpdateItem',
          join(updating, returnValues('NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW')),
        ),
      },
      {
        weight: 2,
        arbitrary: request('DeleteItem', join(deleting, returnValues('NONE', 'ALL_OLD', 'ALL_NEW'))),
      },
      { weight: 2, arbitrary: request('GetItem', getting(key)) },
      { weight: 4, arbitrary: request('Query', query) },
      { weight: 2, arbitrary: request('Query', indexQuery) },
      {
        weight: 5,
        arbitrary: request(
          'TransactWriteItems',
          // Two on one item are refused on AWS whatever else they say; DynamoDB Local looks at their conditions first.
          fc
            .uniqueArray(write, { minLength: 1, maxLength: 4, selector: addressOf })
            .map((TransactItems) => ({ TransactItems })),
        ),
      },
      {
        weight: 1,
        arbitrary: request(
          'TransactGetItems',
          // A key that does not fit is answered without reasons here, unlike everywhere else.
          several(getting(goodKey)).map((gets) => ({ TransactItems: gets.map((Get) => ({ Get })) })),
        ),
      },
      {
        weight: 1,
        arbitrary: request(
          'BatchGetItem',
          several(key).map((Keys) => ({ RequestItems: { [TableName]: { Keys } } })),
        ),
      },
      {
        weight: 1,
        arbitrary: request(
          'BatchWriteItem',
          several(
            fc.oneof(
              item.map((Item) => ({ PutRequest: { Item } })),
              key.map((Key) => ({ DeleteRequest: { Key } })),
            ),
          ).map((requests) => ({ RequestItems: { [TableName]: requests } })),
        ),
      },
    ),
    { minLength: 8, maxLength: 16, size: 'max' },
  );
}

function addressOf(write: Record<string, Input>): string {
  const [input] = Object.values(write);
  const { pk, sk } = (input!['Key'] ?? input!['Item']) as Item;
  return JSON.stringify([pk, sk]);
}

const join = (one: fc.Arbitrary<Input>, other: fc.Arbitrary<Input>): fc.Arbitrary<Input> =>
  fc.tuple(one, other).map(([a, b]) => ({ ...a, ...b }));
