import { createHash } from 'node:crypto';
import type { LedgerEntry } from '../ledger/entry.ts';
import type { Method } from '../payments/payment.ts';
import type { AnswerFault, CallbackFault, FaultDialSettings, FaultRule, Service } from './fault-rule.ts';

/** What a rule can match on. A read of a user has no method; then a rule that asks for one does not match. */
export interface FaultFacts {
  readonly user_id?: string;
  readonly method?: Method;
  readonly reference_id?: string;
}

export interface ChosenFault<F> {
  readonly rule_id: string;
  readonly fault: F;
  readonly ms: number | undefined;
}

const QUIET: FaultDialSettings = { seed: 'sandbox', rules: [] };
const RANGE = 2 ** 48;

/** A die that falls the same way for the same seed, rule, key and count. */
function roll(...parts: (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readUIntBE(0, 6) / RANGE;
}

function matches(rule: FaultRule, facts: FaultFacts): boolean {
  const { user_id, method, reference_id } = rule.match;
  return (
    (user_id === undefined || user_id === facts.user_id) &&
    (method === undefined || method === facts.method) &&
    (reference_id === undefined || reference_id === facts.reference_id)
  );
}

/** Which request or callback goes wrong, and how. The first rule that matches and falls due wins. */
export class FaultDial {
  #settings: FaultDialSettings = QUIET;
  readonly #hits = new Map<string, number>();
  /** Requests seen per service and key since the dial was set: the count that lets a retry fall another way. */
  readonly #seen = new Map<string, number>();

  settings(): FaultDialSettings & { readonly hits: Readonly<Record<string, number>> } {
    return { ...this.#settings, hits: Object.fromEntries(this.#hits) };
  }

  forAnswer(service: Service, key: string, facts: FaultFacts): ChosenFault<AnswerFault> | undefined {
    for (const rule of this.#settings.rules) {
      if (rule.service === service && this.#strikes(rule, `${service} ${key}`, facts)) {
        return { rule_id: rule.id, fault: rule.fault, ms: rule.ms };
      }
    }
    return undefined;
  }

  forCallback(
    kinds: readonly CallbackFault[],
    key: string,
    facts: FaultFacts,
  ): ChosenFault<CallbackFault> | undefined {
    for (const rule of this.#settings.rules) {
      if (rule.service !== 'callbacks' || !kinds.includes(rule.fault)) continue;
      if (this.#strikes(rule, `callbacks ${key}`, facts)) {
        return { rule_id: rule.id, fault: rule.fault, ms: rule.ms };
      }
    }
    return undefined;
  }

  apply(entry: LedgerEntry): void {
    if (entry.type === 'fault.set') {
      this.#settings = { seed: entry.seed, rules: entry.rules };
      this.#hits.clear();
      this.#seen.clear();
      return;
    }
    if (this.#settings.rules.length === 0) return;
    if ('rule_id' in entry) increment(this.#hits, entry.rule_id);
    if ('fault_key' in entry) increment(this.#seen, entry.fault_key);
  }

  #strikes(rule: FaultRule, key: string, facts: FaultFacts): boolean {
    if (!matches(rule, facts)) return false;
    if (rule.times !== undefined && (this.#hits.get(rule.id) ?? 0) >= rule.times) return false;
    if (rule.probability >= 1) return true;
    return roll(this.#settings.seed, rule.id, key, this.#seen.get(key) ?? 0) < rule.probability;
  }

  /** Written on request entries only while there are rules, so that an undisturbed ledger stays lean. */
  keyToCount(service: Service, key: string): { readonly fault_key?: string } {
    return this.#settings.rules.length === 0 ? {} : { fault_key: `${service} ${key}` };
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
