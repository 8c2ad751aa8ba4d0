import './auth/boot';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, type AnyRoute } from '@tanstack/react-router';
import { StrictMode, Suspense, lazy, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries';
import { ErrorBoundary } from './app/error_boundary';
import { router } from './app/router';
import { start, useSession } from './auth/session';
import { startTexts } from './i18n';
import { applyTheme } from './lib/preferences';
import { Loading } from './ui/ui';
import './styles.css';

const SignInPage = lazy(() => import('./auth/sign_in_page'));
const ToastList = lazy(() => import('./ui/toast_list'));

function App() {
  const session = useSession();
  const signedIn = session.state === 'signed_in';
  useEffect(() => {
    if (session.state === 'signed_out') queryClient.clear();
    // After the sign-in, leaves the page of the setup link.
    if (signedIn && router.state.location.pathname === '/setup')
      void router.navigate({ to: '/', replace: true });
  }, [session.state, signedIn]);
  if (session.state === 'starting') return <Loading />;
  if (session.state === 'signed_out')
    return (
      <Suspense fallback={<Loading />}>
        <SignInPage session={session} />
      </Suspense>
    );
  return <RouterProvider router={router} />;
}

applyTheme();
// Loads the code of the requested page while the access token is being renewed.
const routes: Record<string, AnyRoute> = router.routesById;
for (const { routeId } of router.matchRoutes(router.latestLocation) as { routeId: string }[])
  void router.loadRouteChunk(routes[routeId]!)?.catch(() => {});
await Promise.all([startTexts(), start()]);
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <ErrorBoundary>
        <QueryClientProvider client={queryClient}>
          <App />
          <Suspense>
            <ToastList />
          </Suspense>
        </QueryClientProvider>
      </ErrorBoundary>
    </CSPProvider>
  </StrictMode>,
);
