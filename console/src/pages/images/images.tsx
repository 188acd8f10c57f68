import { useParams, useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/page.tsx'
import { Forbidden } from '../../parts/states.tsx'
import { useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import { List } from './list.tsx'
import { Manifest } from './manifest.tsx'
import { Tags } from './tags.tsx'

/** The images of a repository, the tags of one, and what is in a manifest. */
export const Images = () => {
  const { repository } = useParams({ from: '/r/$repository/images' })
  const { image, reference } = useSearch({ from: '/r/$repository/images' })
  const allowed = useMay()('listRepositoryImages', repository)
  if (!allowed.may)
    return (
      <Page title={t('tab.images')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  if (image === undefined) return <List repository={repository} />
  if (reference === undefined) return <Tags repository={repository} image={image} />
  return <Manifest repository={repository} image={image} reference={reference} />
}
