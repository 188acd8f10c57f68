declare const vaultNameBrand: unique symbol

/**
 * What something in a vault is called: one to four words of lower-case letters, digits, `_`, `.` and `-` with slashes
 * between them, each of at most 128 characters. None begins with a dot or a dash, so that no name leads out of the
 * vault or looks like an option; none ends in `.new` or `.lock`, which belong to the vault itself. A name is also the
 * path of a file and the key of an object.
 */
export type VaultName = string & { readonly [vaultNameBrand]: true }

const form = /^[a-z0-9_][a-z0-9._-]{0,127}(?:\/[a-z0-9_][a-z0-9._-]{0,127}){0,3}$/
const ofTheVault = /\.(?:new|lock)(?:\/|$)/

export const isVaultName = (text: string): text is VaultName => form.test(text) && !ofTheVault.test(text)

/** Throws a RangeError for what is no name. */
export const toVaultName = (text: string): VaultName => {
  if (!isVaultName(text)) throw new RangeError(`not a name in a vault: ${JSON.stringify(text.slice(0, 120))}`)
  return text
}
