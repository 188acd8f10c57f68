/** The blocks of a YAML file that begin with such a line and are indented further than it. */
const blocks = (text: string, begin: RegExp): string[] =>
  [...text.matchAll(new RegExp(`^( *)${begin.source} \\|\\n((?:\\1 +.*\\n)+)`, 'gm'))].map(([, , block = '']) => block)

/** What a workflow of GitHub Actions runs, each text in a shell of its own. */
export const scriptsOfGitHub = (text: string): string[] => blocks(text, /run:/)

/** The same of GitLab. */
export const scriptsOfGitLab = (text: string): string[] => blocks(text, /-/)
