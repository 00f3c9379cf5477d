import { render } from 'preact'
import { startKeys } from './keys.js'
import { startRouter } from './router.js'
import { Shell } from './shell/Shell.js'
import { startTheme } from './shell/theme.js'

// A tab that is older than the build asks for files that are gone: once, the page is loaded anew.
addEventListener('vite:preloadError', (event) => {
  if (sessionStorage.getItem('purser.reloaded') === location.href) return
  event.preventDefault()
  sessionStorage.setItem('purser.reloaded', location.href)
  location.reload()
})

startTheme()
startRouter()
startKeys()
const root = document.getElementById('console')
if (root !== null) render(<Shell />, root)
