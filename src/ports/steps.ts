/** Where a collection can die. Each is a place that must be survived; tests make processes die there. */
export type CollectionStep = 'locked' | 'intent-written' | 'charged' | 'outcome-written';

export type OnStep = (
  step: CollectionStep,
  ids: { readonly userId: string; readonly subscriptionId: string },
) => void | Promise<void>;
