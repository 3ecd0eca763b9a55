/** From the least that one may to the most: a viewer looks, a service also pays and tells of events, an operator may all. */
export const ROLES = ['viewer', 'service', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/** Whoever calls, as the configuration names them. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

export interface ApiToken extends Caller {
  readonly token: string;
}
