import { DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme } from '@mantine/core'
import type { Plugin } from 'vite'
import { theme } from '../src/look/theme.ts'

/** Colours of Mantine's own that nothing of ours uses. */
const unused = /^--mantine-color-(?:blue|cyan|grape|green|indigo|lime|orange|pink|teal|violet|yellow)-/

const block = (selector: string, variables: Readonly<Record<string, string>>): string =>
  `${selector}{${Object.entries(variables)
    .filter(([name]) => !unused.test(name))
    .map(([name, value]) => `${name}:${value}`)
    .join(';')}}`

/**
 * The variables that Mantine's provider would write into a style element, which the policy of the console does not
 * allow: they are made when it is built, as `look/mantine-variables.css`.
 */
export const mantineVariables = (): Plugin => ({
  name: 'mantine-variables',
  load(id) {
    if (!id.endsWith('/look/mantine-variables.css')) return null
    const { variables, light, dark } = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme))
    return [
      block(':root', variables),
      block(':root[data-mantine-color-scheme="light"]', light),
      block(':root[data-mantine-color-scheme="dark"]', dark),
    ].join('')
  },
})
