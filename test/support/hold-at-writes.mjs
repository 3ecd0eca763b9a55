// Loaded before a role's own entry point: the process stands still at the writes that a test names, until it is killed.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

const points = JSON.parse(process.env.HOLD_POINTS).map((point) => ({ ...point, seen: 0 }));
const send = DynamoDBClient.prototype.send;

/** For ever: what it would do next never happens. */
const hold = (point) => {
  process.send(point);
  return new Promise(() => undefined);
};

DynamoDBClient.prototype.send = async function (command, ...rest) {
  const text = JSON.stringify(command.input);
  const reached = points.find(
    (point) =>
      point.command === command.constructor.name && text.includes(point.text) && ++point.seen === point.nth,
  );
  if (reached?.when === 'before') await hold(reached);
  const answer = await send.call(this, command, ...rest);
  if (reached?.when === 'after') await hold(reached);
  return answer;
};
