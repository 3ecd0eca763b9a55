/** The numbers are the ones of the README of this room; people quote them. */
export type RuleNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13;

/** Ids only, never what a person could be known by: this is printed, mailed and put into tickets. */
export interface Violation {
  readonly rule: RuleNumber;
  readonly user_id: string;
  /** A billing record's, `float.` and the id of a float, or `recurring.` with those of an account and its subscription. */
  readonly subscription_id: string;
  readonly detail: string;
}

/** What a rule has to say about one record. The audit adds the user and the rule. */
export interface Finding {
  readonly subscriptionId: string;
  readonly detail: string;
}

export interface AuditTotals {
  readonly users: number;
  readonly records: number;
  readonly floats: number;
  readonly recurring: number;
  /** Whatever is stored of the accounts that were looked at: how far a progress bar has come. */
  readonly accountItems: number;
  readonly attempts: number;
  readonly debits: number;
  readonly violations: number;
  /** Users that looked wrong and changed at every look: nothing can be said about them this time. */
  readonly unsettled: number;
  /** False: the processor keeps its ledger to itself, so rules 1 and 5 and the debits of rule 2 were not checked. */
  readonly ledgerRead: boolean;
}
