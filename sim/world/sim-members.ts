/** What the services next door know about a member. */
export interface SimMember {
  readonly userId: string;
  /** Null: the user service knows no such user. */
  status: string | null;
  /** Since when it has been that. */
  statusSinceMs: number;
  isEmployee: boolean;
  hasCard: boolean;
  hasAccount: boolean;
  balanceCents: number;
  /** Since when it has been that. */
  balanceSinceMs: number;
}

export class SimMembers {
  private readonly members = new Map<string, SimMember>();

  add(member: SimMember): void {
    this.members.set(member.userId, member);
  }

  all(): SimMember[] {
    return [...this.members.values()];
  }

  of(userId: string): SimMember {
    const found = this.members.get(userId);
    if (found === undefined) throw new Error(`nobody is ${userId}`);
    return found;
  }
}
