/** Names of what gives something; where two of a kind have one name, with the ids that tell them apart. */
export const namesApart = (
  through: readonly { readonly kind: string; readonly id: string | null; readonly name: string }[],
): string[] =>
  through.map((one) =>
    through.some((other) => other.kind === one.kind && other.name === one.name && other.id !== one.id)
      ? `${one.name} (${one.id})`
      : one.name,
  )

/** Why somebody may not do something, in a word. */
export const missingThings = [
  'repository_missing',
  'account_disabled',
  'service_keys_only',
  'no_grant',
  'no_entry',
  'grant_too_small',
  'no_active_key',
  'not_in_policy',
  'not_in_key',
  'not_administrator',
] as const
export type MissingThing = (typeof missingThings)[number]
