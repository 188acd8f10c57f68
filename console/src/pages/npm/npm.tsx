import { useParams, useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/page.tsx'
import { Forbidden } from '../../parts/states.tsx'
import { useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import { List } from './list.tsx'
import { Version } from './version.tsx'
import { Versions } from './versions.tsx'

/** The npm packages of a repository, and the versions of one. */
export const Npm = () => {
  const { repository } = useParams({ from: '/r/$repository/npm' })
  const { package: name, version } = useSearch({ from: '/r/$repository/npm' })
  const allowed = useMay()('listNpmPackages', repository)
  if (!allowed.may)
    return (
      <Page title={t('tab.npm')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  if (name === undefined) return <List repository={repository} />
  if (version === undefined) return <Versions repository={repository} name={name} />
  return <Version repository={repository} name={name} version={version} />
}
