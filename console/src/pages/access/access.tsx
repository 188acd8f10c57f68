import { Link, useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/page.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { said, t } from '../../words/words.ts'
import { Explain } from './explain.tsx'
import { Groups } from './groups.tsx'
import { Matrix } from './matrix.tsx'
import { People } from './people.tsx'
import { Services } from './services.tsx'

const tabs = ['groups', 'people', 'matrix', 'explain', 'services'] as const

const pages = { groups: Groups, people: People, matrix: Matrix, explain: Explain, services: Services } as const

/** Who may what: groups and what they are granted, people, services, and the sum of it all. */
export const Access = () => {
  const { tab: asked } = useSearch({ from: '/access' })
  const tab = tabs.find((each) => each === asked) ?? 'groups'
  const Tab = pages[tab]
  return (
    <Page title={t('nav.access')} lead={t('access.lead')}>
      <Tabs label={t('nav.access')} at={tabs.indexOf(tab)}>
        {tabs.map((each) => (
          <Link key={each} to="/access" search={{ tab: each }} className={tab === each ? 'active' : ''}>
            {said('access.tab', each)}
          </Link>
        ))}
      </Tabs>
      <Tab />
    </Page>
  )
}
