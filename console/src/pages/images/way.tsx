import { Link } from '@tanstack/react-router'
import { t } from '../../words/words.ts'

/** Where in the images of a repository one is. */
export const Way = ({
  repository,
  image,
  reference,
}: {
  readonly repository: string
  readonly image?: string
  readonly reference?: string
}) => (
  <nav className="crumbs" aria-label={t('files.where')}>
    <Link to="/r/$repository/images" params={{ repository }} search={{}}>
      {t('tab.images')}
    </Link>
    {image === undefined ? null : (
      <>
        <span className="sep">/</span>
        <Link to="/r/$repository/images" params={{ repository }} search={{ image }}>
          {image}
        </Link>
      </>
    )}
    {reference === undefined ? null : (
      <>
        <span className="sep">:</span>
        <strong>{reference.slice(0, 19)}</strong>
      </>
    )}
  </nav>
)

/** The image that a part of its page is about. */
export interface OfImage {
  readonly repository: string
  readonly image: string
}
