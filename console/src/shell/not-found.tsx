import { Link } from '@tanstack/react-router'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { t } from '../words/words.ts'

/** The one page for what is not there and for what may not be seen. */
export const NotFound = () => (
  <Page title={t('missing.title')}>
    <Empty icon="search" title={t('missing.here')}>
      <p className="muted">{t('missing.why')}</p>
      <Link to="/">{t('nav.home')}</Link>
    </Empty>
  </Page>
)
