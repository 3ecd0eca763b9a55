import { code, diagram, tableOf } from './blocks.ts';

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly causes: readonly string[];
}

export interface StateMachine {
  /** Those that a record may have. */
  readonly statuses: readonly string[];
  readonly births: readonly string[];
  /** Those that leave the status as it is included. */
  readonly edges: readonly Edge[];
}

/** The arrows of a table from status to status to causes. */
export const edgesOf = (
  table: Readonly<Record<string, Readonly<Partial<Record<string, readonly string[]>>>>>,
): Edge[] =>
  Object.entries(table).flatMap(([from, row]) =>
    Object.entries(row).map(([to, causes = []]) => ({ from, to, causes })),
  );

/** What changes a status, as a picture. What may happen from everywhere is drawn once, what changes none is not. */
export function stateDiagram({ statuses, births, edges }: StateMachine): string {
  const everywhere = edgesFromEverywhere(statuses, edges);
  const isEverywhere = (to: string, cause: string): boolean =>
    everywhere.some((edge) => edge.to === to && edge.causes.includes(cause));
  const others = edges
    .filter(({ from, to }) => from !== to)
    .map((edge) => ({ ...edge, causes: edge.causes.filter((cause) => !isEverywhere(edge.to, cause)) }))
    .filter(({ causes }) => causes.length > 0);
  return diagram([
    'stateDiagram-v2',
    ...(everywhere.length > 0 ? [`  state "any status" as any`] : []),
    ...births.map((status) => `  [*] --> ${status}`),
    ...[...everywhere, ...others].map(
      ({ from, to, causes }) => `  ${from} --> ${to}: ${causes.join('<br/>')}`,
    ),
  ]);
}

function edgesFromEverywhere(statuses: readonly string[], edges: readonly Edge[]): Edge[] {
  const causesTo = (to: string): string[] => {
    const into = edges.filter((edge) => edge.to === to);
    const causes = new Set(into.flatMap((edge) => edge.causes));
    return [...causes].filter((cause) =>
      statuses.every((from) => into.some((edge) => edge.from === from && edge.causes.includes(cause))),
    );
  };
  return statuses
    .map((to) => ({ from: 'any', to, causes: causesTo(to) }))
    .filter(({ causes }) => causes.length > 0);
}

/** Every arrow, also those that lead back to where they began. */
export const transitionTable = ({ edges }: StateMachine): string =>
  tableOf(
    ['from', 'to', 'because of'],
    edges.map(({ from, to, causes }) => [
      code(from),
      from === to ? 'stays' : code(to),
      causes.map(code).join(' '),
    ]),
  );
