import { Link } from '@tanstack/react-router'
import { said, t } from '../words/words.ts'
import { Tabs } from './tabs.tsx'

/** What something is, and what became of it: the second is asked for when somebody wants to know. */
export type AboutOrHistory = 'about' | 'history'

export const aboutOrHistory = (tab: string | undefined): AboutOrHistory => (tab === 'history' ? 'history' : 'about')

export const AboutAndHistory = ({ open }: { readonly open: AboutOrHistory }) => (
  <Tabs label={t('artifact.known')} at={open === 'about' ? 0 : 1}>
    {(['about', 'history'] as const).map((each) => (
      <Link
        key={each}
        to="."
        search={(before) => ({ ...before, tab: each === 'about' ? '' : each })}
        className={each === open ? 'active' : ''}
      >
        {said('artifact.tab', each)}
      </Link>
    ))}
  </Tabs>
)
