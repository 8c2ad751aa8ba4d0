// Shows an error page if rendering throws. The page offers a way to continue.
import { Component, type ReactNode } from 'react';
import { LoadFailure } from '../ui/ui';

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  render() {
    if (this.state.error === null) return this.props.children;
    return (
      <main>
        <LoadFailure error={this.state.error} onRetry={() => window.location.reload()} />
      </main>
    );
  }
}
