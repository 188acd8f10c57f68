import type { Failure } from '../../kernel/failure.ts'

/** Names the wire; its passes are good at no other. */
export const wireName = 'oci'

/**
 * What a 401 tells clients to do: ask here for a token, with what they were given at the login. One scheme on one line,
 * since each client believes another one of several; and no word that some take for a scheme within the address.
 */
export const challengeOf = ({ code }: Failure, baseUrl: string): string => {
  const told = `Bearer realm="${baseUrl}/v2/token",service="${new URL(baseUrl).host}"`
  return code === 'credential_missing' ? told : `${told},error="invalid_token"`
}

const advice = 'Sign in with any user name, and a personal token or a service key as the password.'

/** What clients show to people, who typed a name and a password. */
export const toldOf = ({ code, message }: Failure): string => {
  if (code === 'credential_missing') return advice
  return code === 'credential_invalid' ? `${message} ${advice}` : message
}
