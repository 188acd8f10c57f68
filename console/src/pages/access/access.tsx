import { Link, useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/page.tsx'
import { said, t } from '../../words/words.ts'
import { Groups } from './groups.tsx'
import { Matrix } from './matrix.tsx'
import { People } from './people.tsx'
import { Services } from './services.tsx'

const tabs = ['groups', 'people', 'matrix', 'services'] as const

/** Who may what: groups and what they are granted, people, services, and the sum of it all. */
export const Access = () => {
  const { tab = 'groups' } = useSearch({ from: '/access' })
  return (
    <Page title={t('nav.access')} lead={t('access.lead')}>
      <nav className="tabs" aria-label={t('nav.access')}>
        {tabs.map((each) => (
          <Link key={each} to="/access" search={{ tab: each }} className={tab === each ? 'active' : ''}>
            {said('access.tab', each)}
          </Link>
        ))}
      </nav>
      {tab === 'people' ? <People /> : tab === 'matrix' ? <Matrix /> : tab === 'services' ? <Services /> : <Groups />}
    </Page>
  )
}
