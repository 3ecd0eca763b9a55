import ts from 'typescript';

/**
 * Which function makes the processor of each queue, read off the text of the workers' registry: a processor that was made
 * does not tell which function made it.
 */
export function processorsIn(source: string): ReadonlyMap<string, string> {
  const file = ts.createSourceFile('processors.ts', source, ts.ScriptTarget.Latest, true);
  const shared = new Map<string, ts.ObjectLiteralExpression>();
  const makers = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isObjectLiteralExpression(node.initializer))
      shared.set(node.name.getText(), node.initializer);
    if (ts.isObjectLiteralExpression(node)) {
      const queue = propertyOf(node, 'queue');
      const maker = makerIn(node, shared);
      if (queue !== undefined && ts.isStringLiteral(queue) && maker !== null) makers.set(queue.text, maker);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return makers;
}

function makerIn(
  literal: ts.ObjectLiteralExpression,
  shared: ReadonlyMap<string, ts.ObjectLiteralExpression>,
): string | null {
  const made = propertyOf(literal, 'processor');
  if (made !== undefined && ts.isCallExpression(made)) return made.expression.getText();
  const spread = literal.properties.filter(ts.isSpreadAssignment).map((one) => one.expression.getText());
  const from = shared.get(spread[0] ?? '');
  return from === undefined ? null : makerIn(from, shared);
}

const propertyOf = (literal: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined =>
  literal.properties.filter(ts.isPropertyAssignment).find((property) => property.name.getText() === name)
    ?.initializer;
